#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "outbox/send/sqs_builder.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

namespace json = boost::json;

AwsCredentials credentials() {
  return {.access_key_id = "AKIDEXAMPLE",
          .secret_access_key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
          .session_token = {},
          .region = "us-east-1",
          .service = "sqs"};
}

std::unique_ptr<SqsBuilder> builder_for(std::string queue_url) {
  return *SqsBuilder::make(std::move(queue_url), credentials());
}

Row good_row() {
  Row row;
  row.idempotency_key = "order 1";
  row.payload = "{\"a\":\"caf\xc3\xa9 \\\"\"}";
  row.is_json = true;
  row.headers = {{"X-Tenant", "7"}};
  return row;
}

TEST(SendSqsBuilder, SendsAMessageToTheQueuesServer) {
  const auto builder = builder_for("http://127.0.0.1:8080/000000000000/orders");

  const auto built = builder->build(good_row(), moment_from_ms(1'440'938'160'000));

  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->method, "POST");
  EXPECT_EQ(built->url, "http://127.0.0.1:8080/");
  const auto body = json::parse(built->body);
  const json::value expected = {
      {"QueueUrl", "http://127.0.0.1:8080/000000000000/orders"},
      {"MessageBody", "{\"a\":\"caf\xc3\xa9 \\\"\"}"},
      {"MessageAttributes",
       {{"IdempotencyKey", {{"DataType", "String"}, {"StringValue", "order 1"}}},
        {"X-Tenant", {{"DataType", "String"}, {"StringValue", "7"}}}}}};
  EXPECT_EQ(body, expected);
  ASSERT_EQ(built->headers.size(), 4U);
  EXPECT_EQ(built->headers[0], (core::Header{"Content-Type", "application/x-amz-json-1.0"}));
  EXPECT_EQ(built->headers[1], (core::Header{"X-Amz-Target", "AmazonSQS.SendMessage"}));
  EXPECT_EQ(built->headers[2], (core::Header{"X-Amz-Date", "20150830T123600Z"}));
  EXPECT_TRUE(built->headers[3].value.starts_with(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/sqs/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="));
}

TEST(SendSqsBuilder, DeduplicatesAndOrdersInFifoQueues) {
  const auto builder = builder_for("https://sqs.us-east-1.amazonaws.com/123456789012/orders.fifo");
  Row row = good_row();
  row.idempotency_key = "order-1";
  Row ordered = row;
  ordered.order_key = "customer-9";

  const auto alone = json::parse(builder->build(std::move(row), {})->body);
  const auto grouped = json::parse(builder->build(std::move(ordered), {})->body);

  EXPECT_EQ(alone.at("MessageDeduplicationId"), "order-1");
  EXPECT_EQ(alone.at("MessageGroupId"), "order-1");
  EXPECT_EQ(grouped.at("MessageDeduplicationId"), "order-1");
  EXPECT_EQ(grouped.at("MessageGroupId"), "customer-9");
}

TEST(SendSqsBuilder, EndsRowsThatSqsWouldNeverTake) {
  using namespace std::string_literals;
  struct Case {
    std::string_view name;
    std::string_view reason;
    void (*spoil)(Row&);
  };
  const Case cases[] = {
      {"broken JSON", "PAYLOAD_INVALID", [](Row& row) { row.payload = "{"; }},
      {"too large", "PAYLOAD_TOO_LARGE", [](Row& row) { row.payload.reset(); }},
      {"nothing", "PAYLOAD_INVALID", [](Row& row) { row.is_json = false, row.payload = ""; }},
      {"a zero", "PAYLOAD_INVALID", [](Row& row) { row.is_json = false, row.payload = "a\0b"s; }},
      {"bytes", "PAYLOAD_INVALID", [](Row& row) { row.is_json = false, row.payload = "\xff"; }},
      {"U+FFFF", "PAYLOAD_INVALID",
       [](Row& row) { row.is_json = false, row.payload = "\xef\xbf\xbf"; }},
      {"an empty header", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"X-A", ""}};
       }},
      {"a strange name", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"X A", "b"}};
       }},
      {"a control", "HEADERS_INVALID",
       [](Row& row) {
         row.headers = {{"X-A", "\x01"}};
       }},
      {"ten headers", "HEADERS_INVALID",
       [](Row& row) {
         row.headers.assign(10, {"X-A", "b"});
       }},
      {"an empty key", "HEADERS_INVALID", [](Row& row) { row.idempotency_key.clear(); }},
  };
  const auto builder = builder_for("https://sqs.us-east-1.amazonaws.com/123456789012/orders");
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Row row = good_row();
    one.spoil(row);

    const auto built = builder->build(std::move(row), {});

    ASSERT_FALSE(built.has_value());
    EXPECT_EQ(built.error().ending, Ending::aborted);
    EXPECT_EQ(built.error().reason_code, one.reason);
  }
}

TEST(SendSqsBuilder, TakesTheUrlOfAQueueOnly) {
  for (const char* bad : {"", "orders", "https://sqs.us-east-1.amazonaws.com",
                          "https://sqs.us-east-1.amazonaws.com/1/", "https://a/1/q?x=1"}) {
    const auto made = SqsBuilder::make(bad, credentials());
    ASSERT_FALSE(made.has_value()) << bad;
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
