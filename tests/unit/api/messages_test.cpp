#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Messages = ApiTest;

TEST_F(Messages, AMessageIsShownWithEverythingAPublisherSaid) {
  core::Message message;
  message.headers = {{"content-type", "text/plain"}, {"x-a", "1"}, {"X-A", "2"}};
  message.body = "hello";
  message.method = "PUT";
  message.queue = "orders";
  message.labels = {"one", "two"};
  message.caller_ip = "192.0.2.1";
  message.flow_key = "key";
  message.retry.retries_max = 5;
  message.retry.delay = core::ExpressionDelay{"1000"};
  const std::string id = store(core::Seq{1}, message);
  core::FlowKey flow;
  flow.tenant = core::TenantId{1};
  flow.key = "key";
  flow.rate = 10;
  flow.period = Millis{60'000};
  submitter.reader->put<core::FlowKey>(flow);

  const http::Response response = call("GET", "/v2/messages/" + id);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json(response), boost::json::parse(R"({
    "messageId": ")" + id + R"(", "url": "https://example.com/hook", "method": "PUT",
    "header": {"Content-Type": ["text/plain"], "X-A": ["1", "2"]}, "body": "hello",
    "maxRetries": 5, "notBefore": 1700000000000, "createdAt": 1700000000000,
    "retryDelayExpression": "1000", "callerIP": "192.0.2.1", "callerIp": "192.0.2.1",
    "queueName": "orders", "label": "one", "labels": ["one", "two"],
    "flowControlKey": "key", "rate": 10, "period": 60})"));
}

TEST_F(Messages, OfAPartitionThatIsNotOpenAreNotAvailable) {
  const std::string id = store(core::Seq{1});
  submitter.unavailable = "partition 3 is closed: its store has failed";

  for (const std::string& target : {"/v2/messages/" + id, std::string("/v2/dlq"),
                                    std::string("/v2/schedules"), "/api/v1/jobs/" + id}) {
    const http::Response response = call("GET", target);

    EXPECT_EQ(response.status, 503) << target;
    EXPECT_NE(response.body.find(submitter.unavailable), std::string::npos) << response.body;
  }
}

TEST_F(Messages, APlainMessageHasNothingExtra) {
  const std::string id = store(core::Seq{1});

  EXPECT_EQ(json(call("GET", "/v2/messages/" + id)), boost::json::parse(R"({
    "messageId": ")" + id + R"(", "url": "https://example.com/hook", "method": "POST", "header": {},
    "maxRetries": 3, "notBefore": 1700000000000, "createdAt": 1700000000000, "callerIP": "",
    "callerIp": ""})"));
}

TEST_F(Messages, ABodyThatIsNotTextIsBase64) {
  core::Message message;
  message.body = "\xff\xfe";

  const boost::json::value shown =
      json(call("GET", "/v2/messages/" + store(core::Seq{1}, message)));

  EXPECT_EQ(shown.at("bodyBase64"), "//4=");
  EXPECT_FALSE(shown.get_object().contains("body"));
}

TEST_F(Messages, WhatIsToBeRedactedIsShownAsItsDigestOnly) {
  core::Message message;
  message.body = "abc";
  message.headers = {{"Authorization", "abc"}, {"X-Open", "abc"}};
  message.redact = {"body", "header:authorization"};
  const std::string digest =
      "REDACTED:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const std::string id = store(core::Seq{1}, message);

  const boost::json::value shown = json(call("GET", "/v2/messages/" + id));
  EXPECT_EQ(shown.at("body").get_string(), digest);
  EXPECT_EQ(shown.at("header").at("Authorization").at(0).get_string(), digest);
  EXPECT_EQ(shown.at("header").at("X-Open").at(0), "abc");

  message.redact = {"header"};
  const boost::json::value all = json(call("GET", "/v2/messages/" + store(core::Seq{2}, message)));
  EXPECT_EQ(all.at("body"), "abc");
  EXPECT_EQ(all.at("header").at("X-Open").at(0).get_string(), digest);
}

TEST_F(Messages, NotBeforeMovesWithTheRetry) {
  core::MessageState state;
  state.attempts = 1;
  state.due = now + Millis{12'183};

  const std::string id = store(core::Seq{1}, {}, state);

  EXPECT_EQ(json(call("GET", "/v2/messages/" + id)).at("notBefore"), 1'700'000'012'183);
}

TEST_F(Messages, NobodySeesWhatIsNotTheirs) {
  core::Message foreign;
  foreign.tenant = core::TenantId{2};
  const std::string other = store(core::Seq{1}, foreign);
  const std::string mine = store(core::Seq{2});
  const std::string guessed = core::to_text({core::Seq{2}, 1});

  EXPECT_EQ(call_as("token-2", "GET", "/v2/messages/" + other).status, 200);
  for (const std::string& id : {other, guessed, std::string("msg_x"), std::string("nonsense")}) {
    const http::Response response = call("GET", "/v2/messages/" + id);
    EXPECT_EQ(response.status, 404) << id;
    EXPECT_FALSE(error_of(response).empty());
    EXPECT_EQ(call("GET", "/api/v1/jobs/" + id).status, 404) << id;
  }
  EXPECT_EQ(call("GET", "/v2/messages/" + mine).status, 200);
}

TEST_F(Messages, CancellingAnswersJson) {
  const std::string id = core::to_text(id_of(core::Seq{4}));

  const http::Response response = call("DELETE", "/v2/messages/" + id);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"cancelled":1})");
  const auto& command = submitter.taken.back().get<core::CancelMessage>();
  EXPECT_EQ(command.tenant, core::TenantId{1});
  EXPECT_EQ(command.id, id_of(core::Seq{4}));
}

TEST_F(Messages, CancellingWhatIsUnknownOrFinishedIs404) {
  const std::string id = core::to_text(id_of(core::Seq{4}));
  for (const ErrorKind kind : {ErrorKind::not_found, ErrorKind::conflict}) {
    submitter.answer = [kind](core::Command&) -> core::Reply { return fail(kind, "no"); };
    EXPECT_EQ(call("DELETE", "/v2/messages/" + id).status, 404);
  }
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::unavailable, "later");
  };
  EXPECT_EQ(call("DELETE", "/v2/messages/" + id).status, 503);
  submitter.taken.clear();
  EXPECT_EQ(call("DELETE", "/v2/messages/nonsense").status, 404);
  EXPECT_TRUE(submitter.taken.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
