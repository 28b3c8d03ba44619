#include "api/qstash/publish_options.h"
#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Callbacks = ApiTest;

using Fields = std::vector<net::Field>;

/// What a publish with these fields hands to the core.
class CallbackOptions : public ApiTest {
 protected:
  Result<core::Message> read(Fields fields, qstash::QueryOptions query = {},
                             std::string queue = {}) {
    core::Publish command{.message = std::make_unique<core::Message>()};
    command.message->queue = std::move(queue);
    auto ok = qstash::read_publish_options(options, now, fields, std::move(query), command);
    if (!ok) {
      return std::unexpected(ok.error());
    }
    return std::move(*command.message);
  }
};

TEST_F(CallbackOptions, AUrlAloneTakesTheDefaults) {
  const auto message = read({{"Upstash-Callback", "https://c/x?y"}, {"Upstash-Retries", "7"}});

  ASSERT_TRUE(message) << message.error().message;
  core::Callback want;
  want.url = "https://c/x?y";
  want.host = "https://host:443";
  want.retry.retries_max = 7;  // those of the message
  want.timeout = options.timeout_default;
  EXPECT_EQ(message->callback, want);
  EXPECT_FALSE(message->failure_callback);
  EXPECT_TRUE(message->headers.empty());
}

TEST_F(CallbackOptions, EachCallbackHasItsOwn) {
  const auto message = read({{"Upstash-Callback", "https://c"},
                             {"upstash-callback-method", "put"},
                             {"Upstash-Callback-Retries", "2"},
                             {"Upstash-Callback-Retry-Delay", "1000"},
                             {"Upstash-Callback-Timeout", "30"},
                             {"Upstash-Callback-Delay", "1m"},
                             {"Upstash-Callback-Forward-X-A", "1"},
                             {"Upstash-Failure-Callback", "http://f"},
                             {"Upstash-Failure-Callback-Retries", "0"},
                             {"Upstash-Failure-Callback-Forward-X-B", "2"},
                             {"Upstash-Forward-X-C", "3"},
                             {"Upstash-Callback-Workflow-Id", "ignored"}});

  ASSERT_TRUE(message) << message.error().message;
  ASSERT_TRUE(message->callback && message->failure_callback);
  EXPECT_EQ(message->callback->method, "PUT");
  EXPECT_EQ(message->callback->retry.retries_max, 2U);
  EXPECT_EQ(message->callback->retry.delay, core::RetryDelay{core::ExpressionDelay{"1000"}});
  EXPECT_EQ(message->callback->timeout, Millis{30'000});
  EXPECT_EQ(message->callback->delay, Millis{60'000});
  EXPECT_EQ(message->callback->headers, (std::vector<core::Header>{{"X-A", "1"}}));
  EXPECT_EQ(message->failure_callback->url, "http://f");
  EXPECT_EQ(message->failure_callback->method, "POST");
  EXPECT_EQ(message->failure_callback->retry.retries_max, 0U);
  EXPECT_EQ(message->failure_callback->headers, (std::vector<core::Header>{{"X-B", "2"}}));
  EXPECT_EQ(message->headers, (std::vector<core::Header>{{"X-C", "3"}}));
  EXPECT_EQ(message->retry.retries_max, 3U);
}

TEST_F(CallbackOptions, TheQueryMayGiveThemAndAHeaderWins) {
  const auto message =
      read({{"Upstash-Callback-Retries", "1"}, {"Upstash-Callback-Forward-X-A", "h"}},
           {{"callback", "https://c"},
            {"callback-retries", "2"},
            {"callback-method", "GET"},
            {"callback-forward-x-a", "q"},
            {"callback-forward-x-b", "q"}});

  ASSERT_TRUE(message) << message.error().message;
  ASSERT_TRUE(message->callback);
  EXPECT_EQ(message->callback->retry.retries_max, 1U);
  EXPECT_EQ(message->callback->method, "GET");
  EXPECT_EQ(message->callback->headers, (std::vector<core::Header>{{"X-A", "h"}, {"x-b", "q"}}));
}

TEST_F(CallbackOptions, OptionsWithoutAUrlMeanNothing) {
  const auto message = read({{"Upstash-Callback-Retries", "x"}});

  ASSERT_TRUE(message) << message.error().message;
  EXPECT_FALSE(message->callback);
}

TEST_F(CallbackOptions, WhatMakesNoSenseIsRefusedByName) {
  struct Row {
    std::string name;
    std::string value;
    std::string queue{};
  };
  const Row rows[] = {
      {"Upstash-Callback", "nowhere"},
      {"Upstash-Callback", "ftp://c"},
      {"Upstash-Callback", "https://forbidden"},
      {"Upstash-Failure-Callback", ""},
      {"Upstash-Callback-Method", "BREW"},
      {"Upstash-Callback-Retries", "x"},
      {"Upstash-Callback-Retries", "1001"},
      {"Upstash-Callback-Retry-Delay", "x("},
      {"Upstash-Callback-Timeout", "0"},
      {"Upstash-Callback-Delay", "soon"},
      {"Upstash-Callback-Delay", "1s", "q"},
      {"Upstash-Failure-Callback-Delay", "1s", "q"},
      {"Upstash-Failure-Callback-Retries", "-1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name + ": " + row.value);
    Fields fields{{row.name, row.value}};
    for (const char* url : {"Upstash-Callback", "Upstash-Failure-Callback"}) {
      if (row.name != url) {
        fields.push_back({url, "https://c"});
      }
    }

    const auto message = read(fields, {}, row.queue);

    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind, ErrorKind::invalid_argument);
    EXPECT_TRUE(message.error().message.starts_with(row.name + ": ")) << message.error().message;
  }
  EXPECT_FALSE(read({{"Upstash-Callback", "https://c"}, {"Upstash-Callback-Forward-X-Bad", "1"}}));
  EXPECT_FALSE(read({{"Upstash-Callback", "https://c"},
                     {"Upstash-Callback-Retries", "1"},
                     {"upstash-callback-retries", "1"}}));
}

TEST_F(CallbackOptions, AreKnownAsOptions) {
  for (const char* name :
       {"Upstash-Callback", "upstash-failure-callback-retries", "Upstash-Callback-Forward-X-A"}) {
    EXPECT_TRUE(qstash::is_option_header(name)) << name;
  }
  EXPECT_FALSE(qstash::is_option_header("Upstash-Callback-Workflow-Id"));
}

TEST_F(Callbacks, AreShownWithTheMessageAndInItsLog) {
  core::Message message;
  message.callback = core::Callback{.url = "https://c", .headers = {{"x-a", "1"}}};
  message.failure_callback = core::Callback{.url = "https://f", .headers = {{"x-b", "abc"}}};
  message.redact = {"header:x-b"};
  const std::string id = store(core::Seq{1}, message);
  const core::TenantId tenant{1};
  submitter.reader->put<core::Events>(
      {tenant, now, 1, {{core::Seq{1}, core::EventKind::created, 0}}});
  const std::string digest =
      "REDACTED:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  const boost::json::value shown = json(call("GET", "/v2/messages/" + id));
  EXPECT_EQ(shown.at("callback"), "https://c");
  EXPECT_EQ(shown.at("callbackHeader"), boost::json::parse(R"({"X-A": ["1"]})"));
  EXPECT_EQ(shown.at("failureCallback"), "https://f");
  EXPECT_EQ(shown.at("failureCallbackHeader").at("X-B").at(0).get_string(), digest);

  const boost::json::value event = json(call("GET", "/v2/events")).at("events").at(0);
  EXPECT_EQ(event.at("callback"), "https://c");
  EXPECT_EQ(event.at("callbackHeaders"), boost::json::parse(R"({"X-A": ["1"]})"));
  EXPECT_EQ(event.at("failureCallback"), "https://f");
  EXPECT_EQ(event.at("failureCallbackHeaders").at("X-B").at(0).get_string(), digest);
}

TEST_F(Callbacks, TellAsAJobWhatTheyAreAbout) {
  core::Message message;
  message.callback_of = id_of(core::Seq{1});
  core::MessageState state;
  state.status = core::Status::succeeded;
  const std::string id = store(core::Seq{2}, message, state);

  EXPECT_EQ(json(call("GET", "/api/v1/jobs/" + id)).at("callback_of").get_string(),
            core::to_text(id_of(core::Seq{1})));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
