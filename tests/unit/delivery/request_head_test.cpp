#include "delivery/request_head.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "delivery/destination.h"
#include "delivery/envelope/envelopes.h"
#include "delivery/envelope/plain.h"

namespace hk::delivery {
namespace HK_TEST_FILE {

struct Case {
  core::Message message{};
  Request request{};
  Envelopes envelopes{[](core::TenantId) { return std::make_shared<const Secret>("sig_test"); }, 1};

  Case() {
    message.id = {core::Seq{5}, 6};
    message.url = "https://Example.com/hook?x=1";
    message.body = R"({"a":1})";
    message.headers = {{"Content-Type", "application/json"}};
    request.id = message.id;
    request.fence = {3, 2};
    request.retried = 1;
  }

  Result<std::string> build(Envelope* envelope = nullptr) {
    request.message = std::make_shared<core::Message>(message);
    request.envelope = envelope == nullptr ? &envelopes.of(message) : envelope;
    const auto url = parse_destination(request.url());
    std::string out = "before";
    const auto built = append_request_head(
        out, request, *url, std::chrono::sys_seconds(std::chrono::seconds(1'700'000'000)));
    if (!built) {
      EXPECT_EQ(out, "before");
      return std::unexpected(built.error());
    }
    return out.substr(6);
  }
};

/// The token differs from run to run of a real process; here the seed is fixed, but it is not the
/// point.
std::string without_signature(std::string text) {
  const std::size_t begin = text.find("Upstash-Signature: ") + 19;
  text.replace(begin, text.find("\r\n", begin) - begin, "<token>");
  return text;
}

TEST(Request, IsExactlyTheseBytes) {
  Case one;
  one.message.caller_ip = "192.0.2.7";
  one.message.labels = {"a", "b c", "\xff", "\xc3\xbc"};
  one.message.trace.trace_id = {0x0a, 0xf7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1c};
  one.message.trace.flags = 1;
  one.message.trace.state = "vendor=1";
  one.request.span_id = {0xb7, 0, 0, 0, 0, 0, 0, 0x31};

  const auto head = one.build();

  ASSERT_TRUE(head.has_value());
  const std::string id = core::to_text(one.message.id);
  EXPECT_EQ(without_signature(*head),
            "POST /hook?x=1 HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "Content-Type: application/json\r\n"
            "User-Agent: Upstash-QStash\r\n"
            "Accept-Encoding: identity\r\n"
            "Upstash-Message-Id: " +
                id +
                "\r\n"
                "Upstash-Retried: 1\r\n"
                "Upstash-Signature: <token>\r\n"
                "Upstash-Caller-Ip: 192.0.2.7\r\n"
                "Upstash-Label: a,b c,\xc3\xbc\r\n"
                "Hikyaku-Message-Id: " +
                id +
                "\r\n"
                "Hikyaku-Attempt: 2\r\n"
                "Hikyaku-Fence: 0.3.2\r\n"
                "Idempotency-Key: " +
                id +
                "\r\n"
                "traceparent: 00-0af7000000000000000000000000001c-b700000000000031-01\r\n"
                "tracestate: vendor=1\r\n"
                "Content-Length: 7\r\n"
                "\r\n");
}

TEST(Request, ThePublishersOwnFieldsReplaceOurs) {
  Case one;
  one.message.headers = {{"user-agent", "mine"},
                         {"ACCEPT-ENCODING", "gzip"},
                         {"idempotency-key", "order-7"},
                         {"traceparent", "00-ff"},
                         {"X-A", "1"},
                         {"X-A", "2"}};

  const std::string head = one.build().value();

  EXPECT_EQ(head.find("Upstash-QStash"), std::string::npos);
  EXPECT_EQ(head.find("identity"), std::string::npos);
  EXPECT_EQ(head.find("Idempotency-Key: "), std::string::npos);
  EXPECT_EQ(head.find("traceparent"), std::string::npos);
  EXPECT_NE(head.find("\r\nuser-agent: mine\r\n"), std::string::npos);
  EXPECT_NE(head.find("\r\nidempotency-key: order-7\r\n"), std::string::npos);
  EXPECT_NE(head.find("\r\nX-A: 1\r\nX-A: 2\r\n"), std::string::npos);
}

TEST(Request, StatesTheLengthWhereverABodyIsExpected) {
  struct Row {
    const char* method;
    const char* body;
    const char* length;
  };
  const Row rows[] = {{"POST", "", "0"},    {"PUT", "", "0"},        {"PATCH", "", "0"},
                      {"GET", "", nullptr}, {"DELETE", "", nullptr}, {"HEAD", "", nullptr},
                      {"GET", "abc", "3"},  {"DELETE", "abc", "3"},  {"POST", "abc", "3"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.method) + " " + row.body);
    Case one;
    one.message.method = row.method;
    one.message.body = row.body;

    const std::string head = one.build().value();

    if (row.length == nullptr) {
      EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    } else {
      EXPECT_NE(head.find("\r\nContent-Length: " + std::string(row.length) + "\r\n"),
                std::string::npos);
    }
    EXPECT_TRUE(head.starts_with(row.method));
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
  }
}

TEST(Request, WhatMayNotBeSentIsNotBuilt) {
  for (const core::Header& header :
       {core::Header{"Host", "evil"}, core::Header{"X", "a\r\nHost: evil"},
        core::Header{"X\r\nHost", "evil"}, core::Header{"Content-Length", "0"},
        core::Header{"Upstash-Signature", "forged"}, core::Header{"Hikyaku-Fence", "9.9.9"}}) {
    SCOPED_TRACE(header.name);
    Case one;
    one.message.headers.push_back(header);
    EXPECT_FALSE(one.build().has_value());
  }
  Case method;
  method.message.method = "POST / HTTP/1.1\r\nX: ";
  EXPECT_FALSE(method.build().has_value());
}

TEST(Request, NamesTheUrlGroupThatTheMessageWasFor) {
  Case one;
  EXPECT_EQ(one.build().value().find("Upstash-Topic-Name"), std::string::npos);
  one.message.topic = "group";

  EXPECT_NE(one.build().value().find("\r\nUpstash-Topic-Name: group\r\n"), std::string::npos);
}

TEST(Request, OnlyMessagesOfAScheduleNameIt) {
  Case one;
  EXPECT_EQ(one.build().value().find("Upstash-Schedule-Id"), std::string::npos);
  one.message.schedule = "scd_1";
  EXPECT_NE(one.build().value().find("\r\nUpstash-Schedule-Id: scd_1\r\n"), std::string::npos);
}

TEST(Request, ATextThatCannotBeAFieldIsLeftOut) {
  Case one;
  one.message.labels = {"a\r\nb"};
  one.message.caller_ip = "a\nb";
  one.message.trace.trace_id[0] = 1;
  one.request.span_id[0] = 1;
  one.message.trace.state = "a\r\nHost: b";

  const std::string head = one.build().value();

  EXPECT_EQ(head.find("Upstash-Label"), std::string::npos);
  EXPECT_EQ(head.find("Upstash-Caller-Ip"), std::string::npos);
  EXPECT_EQ(head.find("tracestate"), std::string::npos);
}

TEST(Request, CarriesNothingOfOursInAPlainEnvelope) {
  Case one;
  PlainEnvelope plain("Other/1");
  one.message.caller_ip = "192.0.2.7";
  one.message.labels = {"a"};
  one.message.topic = "group";
  one.message.schedule = "scd_1";
  one.message.trace.trace_id = {0x0a, 0xf7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1c};
  one.request.span_id = {0xb7, 0, 0, 0, 0, 0, 0, 0x31};

  const auto head = one.build(&plain);

  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(*head,
            "POST /hook?x=1 HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "Content-Type: application/json\r\n"
            "User-Agent: Other/1\r\n"
            "Accept-Encoding: identity\r\n"
            "traceparent: 00-0af7000000000000000000000000001c-b700000000000031-01\r\n"
            "Content-Length: 7\r\n\r\n");
}

TEST(Request, OfATopicOfSnsSaysWhichAttemptItIs) {
  Case one;
  one.message.notification = true;
  one.message.headers = {{"Content-Type", "text/plain; charset=UTF-8"},
                         {"User-Agent", "Amazon Simple Notification Service Agent"},
                         {"x-amz-sns-message-type", "Notification"}};
  one.message.caller_ip = "192.0.2.7";

  const auto head = one.build();

  ASSERT_TRUE(head.has_value());
  const std::string id = core::to_text(one.message.id);
  EXPECT_EQ(without_signature(*head),
            "POST /hook?x=1 HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "Content-Type: text/plain; charset=UTF-8\r\n"
            "User-Agent: Amazon Simple Notification Service Agent\r\n"
            "x-amz-sns-message-type: Notification\r\n"
            "Accept-Encoding: identity\r\n"
            "Upstash-Message-Id: " +
                id +
                "\r\n"
                "Upstash-Retried: 1\r\n"
                "Upstash-Signature: <token>\r\n"
                "Upstash-Caller-Ip: 192.0.2.7\r\n"
                "Hikyaku-Message-Id: " +
                id +
                "\r\n"
                "Hikyaku-Attempt: 2\r\n"
                "Hikyaku-Fence: 0.3.2\r\n"
                "Idempotency-Key: " +
                id +
                "\r\n"
                "Content-Length: 7\r\n\r\n");
}

TEST(Request, IsNotBuiltWithoutAKeyToSignItWith) {
  for (const auto& key :
       {std::shared_ptr<const Secret>(), std::make_shared<const Secret>(std::string())}) {
    for (const bool notification : {false, true}) {
      Case one;
      one.message.notification = notification;
      Envelopes keyless([&key](core::TenantId) { return key; }, 1);

      const auto head = one.build(&keyless.of(one.message));

      ASSERT_FALSE(head.has_value());
      EXPECT_EQ(head.error().message, "the tenant has no signing key");
    }
  }
}

TEST(Request, OfAQueueThatPushesIsExactlyTheseBytes) {
  Case one;
  one.message.url.clear();
  one.message.headers = {{"Dropped", "x"}};
  one.message.method = "PUT";
  one.message.queue = "q";
  one.message.group = "g";
  one.message.pull = core::PullPart{.attributes = {{"Kind", "String", "order"},
                                                   {"N", "Number.int", "7"},
                                                   {"Raw", "Binary", "x"},
                                                   {"Host", "String", "evil"},
                                                   {"upstash-Label", "String", "evil"},
                                                   {"Large", "String", std::string(20'000, 'x')}}};
  one.request.to = std::make_shared<const core::PushTarget>(
      core::PushTarget{.url = "https://h.example/in", .host = "https://h.example:443"});
  Envelope& envelope = one.envelopes.of(one.message, one.request.to.get());

  const auto head = one.build(&envelope);

  ASSERT_TRUE(head.has_value());
  const std::string id = core::to_text(one.message.id);
  EXPECT_EQ(without_signature(*head),
            "POST /in HTTP/1.1\r\n"
            "Host: h.example\r\n"
            "Upstash-Queue-Name: q\r\n"
            "Upstash-Message-Group-Id: g\r\n"
            "Kind: order\r\n"
            "N: 7\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "User-Agent: Upstash-QStash\r\n"
            "Accept-Encoding: identity\r\n"
            "Upstash-Message-Id: " +
                id +
                "\r\n"
                "Upstash-Retried: 1\r\n"
                "Upstash-Signature: <token>\r\n"
                "Hikyaku-Message-Id: " +
                id +
                "\r\n"
                "Hikyaku-Attempt: 2\r\n"
                "Hikyaku-Fence: 0.3.2\r\n"
                "Idempotency-Key: " +
                id +
                "\r\n"
                "Content-Length: 7\r\n\r\n");

  one.message.group.clear();
  one.message.pull->attributes = {{"content-type", "String", "text/html"}};
  const auto typed = one.build(&envelope);
  ASSERT_TRUE(typed.has_value());
  EXPECT_EQ(typed->find("text/plain"), std::string::npos);
  EXPECT_NE(typed->find("content-type: text/html\r\n"), std::string::npos);
  EXPECT_EQ(typed->find("Group-Id"), std::string::npos);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
