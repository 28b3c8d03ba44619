#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Jobs = ApiTest;

TEST_F(Jobs, AFailedJobTellsItsAttemptsAndItsDeadLetter) {
  core::Message message;
  message.url = "https://user:pass@example.com/p@th?q=a@b";
  message.queue = "orders";
  message.labels = {"red"};
  message.trace.trace_id[0] = 0xab;
  message.trace.parent_span[7] = 0xcd;
  core::Attempt last;
  last.started_at = now + Millis{5};
  last.response_status = 503;
  last.error = "status 503";
  last.span_id[0] = 0xef;
  last.fence.epoch = 4;
  store_dead(core::Seq{1}, now + Millis{30}, message, last);

  const http::Response response = call("GET", "/api/v1/jobs/" + core::to_text(id_of(core::Seq{1})));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json(response), boost::json::parse(R"({
    "id": ")" + core::to_text(id_of(core::Seq{1})) +
                                               R"(", "status": "FAILED",
    "url": "https://example.com/p@th?q=a@b", "method": "POST", "queue": "orders", "labels": ["red"],
    "created_at": "2023-11-14T22:13:20.000Z", "finished_at": "2023-11-14T22:13:20.030Z",
    "trace": {"trace_id": "ab000000000000000000000000000000", "parent_span_id": "00000000000000cd"},
    "attempts": [{"number": 1, "fence": "0.4.1", "started_at": "2023-11-14T22:13:20.005Z",
      "ended_at": "2023-11-14T22:13:20.030Z", "latency_ms": 25, "status_code": 503,
      "error": "status 503", "span_id": "ef00000000000000"}],
    "dlq_id": "1700000000030-1", "holds": []})"));
  EXPECT_TRUE(submitter.taken.empty()) << "what is finished needs no question to the core";
}

TEST_F(Jobs, ARetryTellsOfTheDeadLetterAndWhetherItWasEdited) {
  submitter.answer = [](core::Command&) -> core::Reply { return core::Inspected{}; };
  core::Message message;
  message.replay_of = id_of(core::Seq{7});
  const boost::json::value plain =
      json(call("GET", "/api/v1/jobs/" + store(core::Seq{8}, message)));
  message.edited = true;
  const boost::json::value edited =
      json(call("GET", "/api/v1/jobs/" + store(core::Seq{9}, message)));

  const std::string seven = core::to_text(id_of(core::Seq{7}));
  EXPECT_EQ(plain.at("retry_of").as_string(), seven);
  EXPECT_FALSE(plain.get_object().contains("edited_from"));
  EXPECT_EQ(edited.at("edited_from").as_string(), seven);
  EXPECT_FALSE(edited.get_object().contains("retry_of"));
}

TEST_F(Jobs, AWaitingJobTellsWhatHoldsIt) {
  core::Message message;
  message.not_before = now + Millis{60'000};
  const std::string id = store(core::Seq{1}, message);
  submitter.answer = [](core::Command& command) -> core::Reply {
    EXPECT_EQ(command.get<core::Inspect>().id, id_of(core::Seq{1}));
    core::Inspected held;
    held.holds = {{"delay", "", now + Millis{60'000}}, {"queue_paused", "orders", {}}};
    return held;
  };

  const boost::json::value job = json(call("GET", "/api/v1/jobs/" + id));

  EXPECT_EQ(job.at("status"), "PENDING");
  EXPECT_EQ(job.at("due_at"), "2023-11-14T22:14:20.000Z");
  EXPECT_EQ(job.at("holds"),
            boost::json::parse(R"([{"gate":"delay","opens_at":"2023-11-14T22:14:20.000Z"},
                                   {"gate":"queue_paused","detail":"orders"}])"));
  EXPECT_EQ(job.at("attempts"), boost::json::array());
  EXPECT_FALSE(job.get_object().contains("finished_at"));
}

TEST_F(Jobs, ARunningJobTellsItsLease) {
  const std::string id = store(core::Seq{1});
  submitter.answer = [](core::Command&) -> core::Reply {
    core::Inspected running;
    running.running = true;
    running.fence = {2, 1};
    running.started_at = now;
    return running;
  };

  const boost::json::value job = json(call("GET", "/api/v1/jobs/" + id));

  EXPECT_EQ(job.at("status"), "RUNNING");
  EXPECT_EQ(job.at("attempts"),
            boost::json::parse(
                R"([{"number":1,"fence":"0.2.1","started_at":"2023-11-14T22:13:20.000Z"}])"));
}

TEST_F(Jobs, AJobThatEndsWhileItIsAskedAboutIsFinished) {
  const std::string id = store(core::Seq{1});
  submitter.answer = [this](core::Command&) -> core::Reply {
    core::MessageState state;
    state.status = core::Status::succeeded;
    state.attempts = 1;
    state.finished_at = now + Millis{1};
    submitter.reader->rows<core::MessageState>()[core::Seq{1}] = state;
    core::Inspected running;
    running.running = true;
    running.fence = {1, 1};
    return running;
  };

  EXPECT_EQ(json(call("GET", "/api/v1/jobs/" + id)).at("status"), "SUCCEEDED");
}

TEST_F(Jobs, EveryFinalStatusHasItsName) {
  for (const auto& [status, name] :
       {std::pair{core::Status::succeeded, "SUCCEEDED"}, std::pair{core::Status::failed, "FAILED"},
        std::pair{core::Status::canceled, "CANCELED"}}) {
    core::MessageState state;
    state.status = status;
    state.finished_at = now;
    EXPECT_EQ(json(call("GET", "/api/v1/jobs/" + store(core::Seq{1}, {}, state))).at("status"),
              name);
  }
}

TEST_F(Jobs, ErrorsAreProblemDetails) {
  const http::Response missing = call("GET", "/api/v1/jobs/nonsense");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.content_type, "application/problem+json");
  boost::json::object told = json(missing).as_object();
  EXPECT_EQ(std::string(told.at("request_id").as_string()), field(missing, "X-Request-Id"));
  told.erase("request_id");
  EXPECT_EQ(told, boost::json::parse(R"({"type":"urn:hikyaku:problem:not_found",
                                         "title":"Not found","status":404,
                                         "detail":"no job nonsense","code":"not_found"})"));

  const std::string id = store(core::Seq{1});
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::unavailable, "busy");
  };
  const http::Response busy = call("GET", "/api/v1/jobs/" + id);
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(field(busy, "Retry-After"), "1");
  EXPECT_EQ(json(busy).at("code"), "unavailable");

  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::unknown_outcome, "the store failed");
  };
  const http::Response unknown = call("GET", "/api/v1/jobs/" + id);
  EXPECT_EQ(unknown.status, 503);
  EXPECT_EQ(field(unknown, "Hikyaku-Outcome"), "unknown");
  EXPECT_EQ(json(unknown).at("code"), "unknown_outcome");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
