#include <gtest/gtest.h>

#include "observe/metrics.h"
#include "observe/trace.h"
#include "outbox/send/make_sender.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

Settings good_settings(Adapter adapter) {
  Settings settings;
  settings.adapter = adapter;
  settings.broker_url = "http://127.0.0.1:8080/";
  settings.broker_token = Secret("token");
  settings.sqs_queue_url = "http://127.0.0.1:8080/000000000000/orders";
  settings.aws_access_key_id = "test";
  settings.aws_secret_access_key = Secret("test");
  return settings;
}

TEST(SendMakeSender, MakesTheAdapterThatTheSettingsName) {
  const auto spans = observe::make_null_exporter();
  const std::pair<Adapter, std::string_view> cases[] = {
      {Adapter::http, "http"}, {Adapter::hikyaku, "hikyaku"}, {Adapter::sqs, "sqs"}};
  for (const auto& [adapter, name] : cases) {
    const auto made = make_sender(good_settings(adapter), *spans);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ((*made)->name(), name);
    EXPECT_EQ((*made)->in_flight(), 0U);
    EXPECT_GE((*made)->ready_fd(), 0);
  }
}

TEST(SendMakeSender, TheBrokerThatTheOperatorNamesNeedsNoLeave) {
  const auto spans = observe::make_null_exporter();
  for (const Adapter adapter : {Adapter::hikyaku, Adapter::sqs}) {
    Settings settings = good_settings(adapter);
    settings.allow_http_destinations = false;
    settings.allowed_hosts = "hooks.example";
    const auto made = make_sender(settings, *spans);
    EXPECT_TRUE(made.has_value()) << made.error().message;
  }
}

TEST(SendMakeSender, RefusesSettingsThatWouldAbortEveryRow) {
  struct Case {
    std::string_view name;
    Adapter adapter;
    void (*spoil)(Settings&);
    std::string_view named;  ///< in the text
  };
  const Case cases[] = {
      {"no URL", Adapter::http, [](Settings& s) { s.destination = "orders"; },
       "OUTBOX_DESTINATION"},
      {"a closed address", Adapter::http, [](Settings& s) { s.destination = "http://127.0.0.1/"; },
       "OUTBOX_ALLOW_LOOPBACK_DESTINATIONS"},
      {"a scheme that is closed", Adapter::http,
       [](Settings& s) {
         s.destination = "http://example.com/";
         s.allow_http_destinations = false;
       },
       "OUTBOX_ALLOW_HTTP_DESTINATIONS"},
      {"a host that is not allowed", Adapter::http,
       [](Settings& s) {
         s.destination = "http://example.com/";
         s.allowed_hosts = "hooks.example";
       },
       "OUTBOX_ALLOWED_HOSTS"},
      {"a list that is none", Adapter::http, [](Settings& s) { s.allowed_hosts = "a b"; },
       "OUTBOX_ALLOWED_HOSTS"},
      {"a header of the connection", Adapter::http,
       [](Settings& s) { s.idempotency_header = "Content-Length"; }, "Content-Length"},
      {"no header", Adapter::http, [](Settings& s) { s.idempotency_header = "a b"; }, "header"},
      {"no CA file", Adapter::http, [](Settings& s) { s.egress_ca_file = "no-such-file.pem"; },
       "no-such-file.pem"},
      {"no broker", Adapter::hikyaku, [](Settings& s) { s.broker_url.clear(); },
       "OUTBOX_BROKER_URL"},
      {"a query", Adapter::hikyaku, [](Settings& s) { s.broker_url = "http://a/?b=c"; },
       "OUTBOX_BROKER_URL"},
      {"a token of two lines", Adapter::hikyaku,
       [](Settings& s) { s.broker_token = Secret("to\nken"); }, "Authorization"},
      {"no such form", Adapter::hikyaku, [](Settings& s) { s.destination = "queue:"; }, "queue:"},
      {"no queue", Adapter::sqs, [](Settings& s) { s.sqs_queue_url.clear(); },
       "OUTBOX_SQS_QUEUE_URL"},
      {"no name of a queue", Adapter::sqs, [](Settings& s) { s.sqs_queue_url = "http://a/"; },
       "OUTBOX_SQS_QUEUE_URL"},
      {"no key", Adapter::sqs, [](Settings& s) { s.aws_access_key_id.clear(); },
       "AWS_ACCESS_KEY_ID"},
      {"no secret", Adapter::sqs, [](Settings& s) { s.aws_secret_access_key = Secret(); },
       "AWS_SECRET_ACCESS_KEY"},
      {"no region", Adapter::sqs, [](Settings& s) { s.aws_region.clear(); }, "AWS_REGION"},
      {"a session token of two lines", Adapter::sqs,
       [](Settings& s) { s.aws_session_token = Secret("to\nken"); }, "X-Amz-Security-Token"},
  };
  const auto spans = observe::make_null_exporter();
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Settings settings = good_settings(one.adapter);
    one.spoil(settings);

    const auto made = make_sender(settings, *spans);

    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(made.error().message.find(one.named), std::string::npos) << made.error().message;
    EXPECT_EQ(made.error().message.find("to\nken"), std::string::npos);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
