#include "api/qstash/destination.h"

#include <gtest/gtest.h>

namespace hk::api::qstash {
namespace {

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
      {"my-group", "", "topic my-group not found"},
      {"my-group?a=1", "", "topic my-group not found"},
      {"example.com/hook", "", "invalid destination url: endpoint has invalid scheme"},
      {"ftp://example.com", "", "invalid destination url: endpoint has invalid scheme"},
      {"https:/", "", "invalid destination url: endpoint has invalid scheme"},
      {"https%3A%2", "", "invalid destination url: its percent-encoding"},
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

TEST(ParseDestination, AnUnknownGroupIsNotFoundAndNotABadRequest) {
  EXPECT_EQ(parse_destination("group").error().kind, ErrorKind::not_found);
  EXPECT_EQ(parse_destination("a/b").error().kind, ErrorKind::invalid_argument);
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

}  // namespace
}  // namespace hk::api::qstash
