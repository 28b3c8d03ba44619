#include "api/qstash/destination.h"

#include <gtest/gtest.h>

namespace hk::api::qstash {
namespace HK_TEST_FILE {

TEST(ParseDestination, ReadsWhatStandsRawInThePath) {
  struct Row {
    std::string_view rest;
    std::string_view url;    // expected, or
    std::string_view error;  // the beginning of the message
  };
  const Row rows[] = {
      {"https://example.com", "https://example.com", ""},
      {"https://example.com/a%2Fb/../c//d", "https://example.com/a%2Fb/../c//d", ""},
      {"HTTPS://Example.COM/Hook", "HTTPS://Example.COM/Hook", ""},
      {"http://h/?a=1&b=2", "http://h/?a=1&b=2", ""},
      {"http://h/x?", "http://h/x", ""},
      {"http://h/x?a=1?b", "http://h/x?a=1?b", ""},
      {"http://h/x?qstash_token=t", "http://h/x", ""},
      {"http://h/x?a=1&qstash_token=t&b=%20", "http://h/x?a=1&b=%20", ""},
      {"http://h/x?qstash%5Ftoken=t", "http://h/x", ""},
      {"http://h/x?Upstash-Retries=3&a", "http://h/x?a", ""},
      {"http://h/x?upstash%2Dretries=3", "http://h/x", ""},
      {"http://h/x?xupstash-retries=3", "http://h/x?xupstash-retries=3", ""},
      {"https:/example.com/x", "https://example.com/x", ""},
      {"http:/example.com?q=1", "http://example.com?q=1", ""},
      {"https%3A%2F%2Fexample.com%2Fx", "https://example.com/x", ""},
      {"http%3a//example.com/a?b=1", "http://example.com/a?b=1", ""},
      {"https%3A%2F%2Fh%2Fx%3Fa%3D1%26qstash_token%3Dt", "https://h/x?a=1", ""},
      {"https%3A%2F%2Fh%2Fx%3Fa%3D1?b=2", "https://h/x?a=1&b=2", ""},
      {"", "", "a non-empty destination"},
      {"?a=1", "", "a non-empty destination"},
      {"example.com/hook", "", "invalid destination url: endpoint has invalid scheme"},
      {"ftp://example.com", "", "invalid destination url: endpoint has invalid scheme"},
      {"https:/", "", "invalid destination url: endpoint has invalid scheme"},
      {"https%3A%2", "", "invalid destination url: invalid percent-encoding"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rest);

    const Result<Destination> read = parse_destination(row.rest);

    if (!row.error.empty()) {
      ASSERT_FALSE(read.has_value()) << read->url;
      EXPECT_TRUE(read.error().message.starts_with(row.error)) << read.error().message;
      continue;
    }
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->url, row.url);
  }
}

TEST(ParseDestination, APlainNameIsAUrlGroupAndItsQueryHoldsOptionsOnly) {
  const Result<Destination> read = parse_destination("my.Group_1?a=1&upstash-retries=3");

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->topic, "my.Group_1");
  EXPECT_TRUE(read->url.empty());
  EXPECT_EQ(read->options, (std::vector<std::pair<std::string, std::string>>{{"retries", "3"}}));
}

TEST(ParseGivenDestination, LeavesTheQueryAsItIs) {
  struct Row {
    std::string_view text;
    std::string_view url;
    std::string_view topic;
    std::string_view error;
  };
  const Row rows[] = {
      {"https://h/x?a=1&upstash-delay=1s", "https://h/x?a=1&upstash-delay=1s", "", ""},
      {"http:/h/x", "http://h/x", "", ""},
      {"https%3A%2F%2Fh%2Fx%3Fa%3D1", "https://h/x?a=1", "", ""},
      {"group", "", "group", ""},
      {"group?a=1", "", "group", ""},
      {"", "", "", "a non-empty destination"},
      {"a b", "", "", "invalid destination url: endpoint has invalid scheme"},
      {"ftp://h", "", "", "invalid destination url: endpoint has invalid scheme"},
      {"https%3A%2", "", "", "invalid destination url: invalid percent-encoding"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);

    const Result<Destination> read = parse_given_destination(row.text);

    ASSERT_EQ(read.has_value(), row.error.empty());
    if (!read) {
      EXPECT_TRUE(read.error().message.starts_with(row.error)) << read.error().message;
      continue;
    }
    EXPECT_EQ(read->url, row.url);
    EXPECT_EQ(read->topic, row.topic);
    EXPECT_TRUE(read->options.empty());
  }
}

TEST(ParseDestination, HandsOutOptionsDecoded) {
  const Result<Destination> read =
      parse_destination("https://h/?upstash-delay=1%30s&x=1&UPSTASH-Forward-X-A=a+b&upstash-label");

  ASSERT_TRUE(read.has_value());
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"delay", "10s"}, {"forward-x-a", "a b"}, {"label", ""}};
  EXPECT_EQ(read->options, expected);
  EXPECT_EQ(read->url, "https://h/?x=1");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::qstash
