#include <gtest/gtest.h>

#include <algorithm>

#include "outbox/send/hikyaku_builder.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

HikyakuBuilder make_builder(std::string destination = "") {
  return HikyakuBuilder({.broker_url = "http://127.0.0.1:8080",
                         .token = Secret("secret-token"),
                         .destination = std::move(destination),
                         .idempotency_header = "Idempotency-Key"});
}

Row row_to(std::string destination) {
  Row row;
  row.idempotency_key = "order-1";
  row.destination = std::move(destination);
  row.payload = R"({"a":1})";
  row.is_json = true;
  return row;
}

using Headers = std::vector<core::Header>;

TEST(SendHikyakuBuilder, FindsTheRouteOfADestination) {
  struct Case {
    std::string destination;
    std::string path;  ///< "" = none
  };
  const Case cases[] = {
      {"https://example.com/hook?x=1&upstash-delay=1d",
       "/v2/publish/https%3A%2F%2Fexample.com%2Fhook%3Fx%3D1%26upstash-delay%3D1d"},
      {"https://example.com/../../v2/dlq",
       "/v2/publish/https%3A%2F%2Fexample.com%2F..%2F..%2Fv2%2Fdlq"},
      {"my-group", "/v2/publish/my-group"},
      {"queue:orders", "/v2/enqueue/orders"},
      {"queue:orders.fifo", "/v2/enqueue/orders.fifo"},
      {"queue:orders/https://example.com/", "/v2/enqueue/orders/https%3A%2F%2Fexample.com%2F"},
      {"queue:orders/my-group", "/v2/enqueue/orders/my-group"},
      {"", ""},
      {"..", ""},
      {"../dlq", ""},
      {"queue:", ""},
      {"queue:..", ""},
      {"queue:orders/", ""},
      {"queue:orders/..", ""},
      {"queue:a b", ""},
      {"ftp://example.com/", ""},
      {"https://example.com/a b", ""},
      {"https://example.com/" + std::string(9'000, 'x'), ""},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.destination.substr(0, 100));
    HikyakuBuilder builder = make_builder();

    const auto built = builder.build(row_to(one.destination), {});

    ASSERT_EQ(built.has_value(), !one.path.empty());
    if (built) {
      EXPECT_EQ(built->url, "http://127.0.0.1:8080" + one.path);
      EXPECT_EQ(built->method, "POST");
      EXPECT_EQ(built->body, R"({"a":1})");
    } else {
      EXPECT_EQ(built.error().reason_code, "DESTINATION_INVALID");
      EXPECT_EQ(built.error().ending, Ending::aborted);
    }
  }
}

TEST(SendHikyakuBuilder, UsesTheRelaysDestinationForRowsWithout) {
  HikyakuBuilder builder = make_builder("queue:orders");

  const auto built = builder.build(row_to(""), {});

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->url, "http://127.0.0.1:8080/v2/enqueue/orders");
}

TEST(SendHikyakuBuilder, DeduplicatesByTheIdempotencyKeyAndPassesItOn) {
  HikyakuBuilder builder = make_builder();
  Row row = row_to("https://example.com/");
  row.headers = {{"X-Tenant", "7"},
                 {"Authorization", "Bearer of-the-receiver"},
                 {"Upstash-Retries", "5"},
                 {"upstash-deduplication-id", "another"},
                 {"idempotency-key", "another"},
                 {"traceparent", "not passed on twice"},
                 {"Content-Type", "text/plain"}};

  const auto built = builder.build(std::move(row), {});

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->headers, (Headers{{"Upstash-Forward-X-Tenant", "7"},
                                     {"Upstash-Forward-Authorization", "Bearer of-the-receiver"},
                                     {"Upstash-Retries", "5"},
                                     {"Content-Type", "text/plain"},
                                     {"Upstash-Deduplication-Id", "order-1"},
                                     {"Upstash-Forward-Idempotency-Key", "order-1"},
                                     {"Authorization", "Bearer secret-token"}}));
}

TEST(SendHikyakuBuilder, GivesQueuesThatArePulledFromWhatTheyTake) {
  const auto value = [](const core::Message& message, std::string_view name) -> std::string {
    const auto found = std::ranges::find(message.headers, name, &core::Header::name);
    return found == message.headers.end() ? "-" : found->value;
  };
  HikyakuBuilder builder = make_builder();
  Row ordered = row_to("queue:orders.fifo");
  ordered.order_key = "customer 9";

  const auto standard = builder.build(row_to("queue:orders"), {});
  const auto fifo = builder.build(row_to("queue:orders.fifo"), {});
  const auto grouped = builder.build(std::move(ordered), {});

  ASSERT_TRUE(standard && fifo && grouped);
  EXPECT_EQ(value(*standard, "Upstash-Deduplication-Id"), "-");
  EXPECT_EQ(value(*standard, "Upstash-Message-Group-Id"), "-");
  EXPECT_EQ(value(*standard, "Upstash-Forward-Idempotency-Key"), "order-1");
  EXPECT_EQ(value(*fifo, "Upstash-Deduplication-Id"), "order-1");
  EXPECT_EQ(value(*fifo, "Upstash-Message-Group-Id"), "order-1");
  EXPECT_EQ(value(*grouped, "Upstash-Message-Group-Id").size(), 64U);  // a blank is not taken
}

TEST(SendHikyakuBuilder, RefusesHeadersThatTheServerWouldRefuse) {
  const Header bad[] = {{"Host", "a"},
                        {"Upstash-Signature", "a"},
                        {"Hikyaku-Fence", "a"},
                        {"X-A", "b\r\nc"},
                        {"X A", "b"}};
  for (const Header& header : bad) {
    HikyakuBuilder builder = make_builder();
    Row row = row_to("https://example.com/");
    row.headers = {header};

    const auto built = builder.build(std::move(row), {});

    ASSERT_FALSE(built.has_value()) << header.name;
    EXPECT_EQ(built.error().reason_code, "HEADERS_INVALID");
    EXPECT_EQ(built.error().message.find("secret-token"), std::string::npos);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
