#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class TransactApi : public ApiTest {
 protected:
  http::Response ask(const std::string& body) {
    return call("POST", "/api/v1/transact",
                {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}}, body);
  }
  void answer_with(core::Transacted done) {
    submitter.answer = [this, done = std::move(done)](core::Command& command) -> core::Reply {
      asked =
          std::move(const_cast<core::Transact&>(core::effect_of(command).get<core::Transact>()));
      return done;
    };
  }

  core::Transact asked;
  const std::string job = core::to_text(id_of(core::Seq{1}));
};

TEST_F(TransactApi, EveryKindOfOperationIsReadAndTold) {
  using Outcome = core::KeyChanged::Outcome;
  core::IdempotencyKey completed;
  completed.state = core::IdempotencyKey::State::completed;
  core::IdempotencyKey released;
  released.state = core::IdempotencyKey::State::released;
  const core::MessageId sent = id_of(core::Seq{7});
  answer_with({.id = "tx_1",
               .results = {core::JobEnded{{}, core::Status::succeeded},
                           core::JobEnded{{}, core::Status::pending}, core::Published{sent, true},
                           core::FannedOut{{{{sent, false}, "https://a/"}}}, core::Canceled{},
                           core::KeyChanged{Outcome::again, completed},
                           core::KeyChanged{Outcome::done, released}}});

  const http::Response response =
      ask(R"({
    "preconditions": [{"job": ")" +
          job + R"(", "status": ["RUNNING", "FAILED"]},
                      {"idempotency": {"key": "k", "namespace": "n", "state": "started", "token": 9}}],
    "operations": [
      {"op": "ack", "job": ")" +
          job + R"(", "fence": "0.3.1", "result": [1]},
      {"op": "nack", "job": ")" +
          job + R"(", "fence": "0.3.1", "error": {"message": "no"}, "retry": false},
      {"op": "publish", "destination": "https://example.com/x", "headers": {"Upstash-Retries": "5"}, "body": "b"},
      {"op": "publish", "destination": "group", "body": "b"},
      {"op": "cancel", "job": ")" +
          job + R"("},
      {"op": "idempotency.complete", "key": "a", "token": 4, "response": 1, "ttl": "2m"},
      {"op": "idempotency.fail", "key": "b", "namespace": "n", "token": 5, "error": {}, "final": false}]})");

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json(response),
            boost::json::parse(R"({"id": "tx_1", "results": [
    {"op": "ack", "job": ")" + job +
                               R"(", "status": "SUCCEEDED"},
    {"op": "nack", "job": ")" + job +
                               R"(", "status": "PENDING"},
    {"op": "publish", "messageId": ")" +
                               core::to_text(sent) +
                               R"(", "url": "https://example.com/x", "deduplicated": true},
    {"op": "publish", "messages": [{"messageId": ")" +
                               core::to_text(sent) +
                               R"(", "url": "https://a/"}]},
    {"op": "cancel", "job": ")" +
                               job + R"(", "status": "CANCELED"},
    {"op": "idempotency.complete", "key": "a", "namespace": "default", "state": "completed", "replayed": true},
    {"op": "idempotency.fail", "key": "b", "namespace": "n", "state": "released", "replayed": false}]})"));
  ASSERT_EQ(asked.preconditions.size(), 2U);
  EXPECT_EQ(std::get<core::JobIs>(asked.preconditions[0]).any_of,
            (std::vector{core::Status::running, core::Status::failed}));
  EXPECT_EQ(std::get<core::KeyIs>(asked.preconditions[1]).token, 9U);
  ASSERT_EQ(asked.operations.size(), 7U);
  EXPECT_EQ(std::get<core::EndJob>(asked.operations[0]).result, "[1]");
  EXPECT_TRUE(std::get<core::EndJob>(asked.operations[1]).give_up);
  EXPECT_EQ(std::get<core::Publish>(asked.operations[2]).message->retry.retries_max, 5U);
  EXPECT_EQ(std::get<core::Publish>(asked.operations[3]).message->topic, "group");
  EXPECT_EQ(std::get<core::EndKey>(asked.operations[5]).kept_for, Millis{120'000});
  EXPECT_EQ(std::get<core::ReleaseKey>(asked.operations[6]).token, 5U);
}

TEST_F(TransactApi, ARefusalSaysWhichPartAndThatNothingWasDone) {
  struct Row {
    core::TransactRefused refused;
    int status;
    std::string_view code;
  };
  using Outcome = core::JobEnded::Outcome;
  const Row rows[] = {
      {{1, false, Error{ErrorKind::not_found, "no"}}, 404, "not_found"},
      {{1, false, Error{ErrorKind::invalid_argument, "no"}}, 400, "invalid"},
      {{1, false, core::JobEnded{Outcome::lease_lost, core::Status::running}}, 409, "lease_lost"},
      {{1, false, core::JobEnded{Outcome::finished, core::Status::failed}}, 409, "job_finished"},
      {{1, false, core::KeyChanged{core::KeyChanged::Outcome::fenced, {}}}, 409, "fenced"},
      {{1, false, core::KeyChanged{core::KeyChanged::Outcome::over, {}}}, 409, "already_completed"},
      {{1, true, Error{ErrorKind::conflict, "no"}}, 412, "precondition_failed"},
      {{1, true, Error{ErrorKind::not_found, "no"}}, 412, "precondition_failed"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.code);
    answer_with({.refused = row.refused});

    const http::Response response = ask(R"({"operations": [{"op": "cancel", "job": ")" + job +
                                        R"("}, {"op": "cancel", "job": ")" + job + R"("}]})");

    EXPECT_EQ(response.status, row.status);
    const boost::json::value told = json(response);
    EXPECT_EQ(told.at("code").as_string(), row.code);
    EXPECT_EQ(told.at("applied"), false);
    EXPECT_EQ(told.at(row.refused.of_precondition ? "precondition" : "operation").as_int64(), 1);
    EXPECT_EQ(told.get_object().contains("op"), !row.refused.of_precondition);
  }
}

TEST_F(TransactApi, AllFaultsAreToldAtOnceAndNothingIsAsked) {
  const http::Response response = ask(
      R"({"preconditions": [{"job": 1, "status": []}, {"batch": "bat_1"}],
          "operations": [{"op": "saga.start"}, {"op": "dance"}, {"op": "cancel", "job": "msg_1"}]})");

  EXPECT_EQ(response.status, 400);
  const boost::json::value told = json(response);
  EXPECT_EQ(told.at("precondition").as_int64(), 0) << "what is wrong comes before what cannot be";
  std::vector<std::string> codes;
  for (const boost::json::value& one : told.at("errors").as_array()) {
    codes.emplace_back(one.at("code").as_string());
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"invalid", "not_available", "not_available", "invalid",
                                             "not_found"}));
  for (const core::Command& taken : submitter.taken) {
    EXPECT_FALSE(core::effect_of(taken).is<core::Transact>()) << "only the refusal is stored";
  }
}

TEST_F(TransactApi, WithoutAKeyItIsRefused) {
  const http::Response response =
      call("POST", "/api/v1/transact", {}, R"({"operations": [{"op": "cancel", "job": "x"}]})");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(json(response).at("code").as_string(), "idempotency_key_required");
  EXPECT_TRUE(submitter.taken.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
