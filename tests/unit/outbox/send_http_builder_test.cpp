#include <gtest/gtest.h>

#include "outbox/send/http_builder.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

Row good_row() {
  Row row;
  row.idempotency_key = "order-1";
  row.destination = "https://example.com/hook?x=1";
  row.payload = R"({"a":1})";
  row.is_json = true;
  return row;
}

using Headers = std::vector<core::Header>;

TEST(SendHttpBuilder, PostsThePayloadAsItIs) {
  HttpBuilder builder("", "Idempotency-Key");

  const auto built = builder.build(good_row(), {});

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->method, "POST");
  EXPECT_EQ(built->url, "https://example.com/hook?x=1");
  EXPECT_EQ(built->body, R"({"a":1})");
  EXPECT_EQ(built->headers,
            (Headers{{"Content-Type", "application/json"}, {"Idempotency-Key", "order-1"}}));
}

TEST(SendHttpBuilder, LetsTheRowChooseItsHeadersButNotItsKey) {
  HttpBuilder builder("", "X-Request-Id");
  Row row = good_row();
  row.headers = {{"content-type", "text/plain"},
                 {"X-REQUEST-ID", "another"},
                 {"Authorization", "Bearer of-the-row"}};

  const auto built = builder.build(std::move(row), {});

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->headers, (Headers{{"content-type", "text/plain"},
                                     {"Authorization", "Bearer of-the-row"},
                                     {"X-Request-Id", "order-1"}}));
}

TEST(SendHttpBuilder, SendsRowsWithoutADestinationToTheRelaysOwn) {
  HttpBuilder builder("https://own.example/in", "Idempotency-Key");
  Row row = good_row();
  row.destination.clear();

  const auto built = builder.build(std::move(row), {});

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->url, "https://own.example/in");
}

TEST(SendHttpBuilder, EndsRowsThatNoRetryCanHelp) {
  struct Case {
    std::string_view name;
    std::string_view reason;
    void (*spoil)(Row&);
  };
  const Case cases[] = {
      {"no destination", "DESTINATION_INVALID", [](Row& row) { row.destination.clear(); }},
      {"no URL", "DESTINATION_INVALID", [](Row& row) { row.destination = "orders"; }},
      {"another scheme", "DESTINATION_INVALID", [](Row& row) { row.destination = "ftp://a/"; }},
      {"a line end", "DESTINATION_INVALID",
       [](Row& row) { row.destination = "https://a/\r\nX: y"; }},
      {"broken JSON", "PAYLOAD_INVALID", [](Row& row) { row.payload = "{"; }},
      {"too large", "PAYLOAD_TOO_LARGE", [](Row& row) { row.payload.reset(); }},
      {"framing", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"Transfer-Encoding", "chunked"}};
       }},
      {"no name", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"", "x"}};
       }},
      {"a second field in a value", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"X-A", "b\r\nX-C: d"}};
       }},
      {"too many", "HEADERS_INVALID",
       [](Row& row) {
         row.headers.assign(63, {"X-A", "b"});
       }},
      {"a key that is no field value", "HEADERS_INVALID",
       [](Row& row) { row.idempotency_key = "a\nb"; }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    HttpBuilder builder("", "Idempotency-Key");
    Row row = good_row();
    one.spoil(row);

    const auto built = builder.build(std::move(row), {});

    ASSERT_FALSE(built.has_value());
    EXPECT_EQ(built.error().ending, Ending::aborted);
    EXPECT_EQ(built.error().reason_code, one.reason);
    EXPECT_GE(built.error().http_status, 400);
    EXPECT_FALSE(built.error().message.empty());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
