#include "api/jobs/ending.h"
#include "api/sqs/receipt.h"
#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

TEST(ParseFence, TakesWhatAHeaderHasAndNothingElse) {
  struct Row {
    std::string_view text;
    std::optional<core::PushLease> lease;
  };
  const Row rows[] = {
      {"0.3.1", core::PushLease{core::PartitionId{0}, {3, 1}}},
      {"65535.4294967295.7", core::PushLease{core::PartitionId{65535}, {4294967295, 7}}},
      {"", {}},
      {"3.1", {}},
      {"0.3.1.", {}},
      {"0.3.1.2", {}},
      {".3.1", {}},
      {"0..1", {}},
      {"+0.3.1", {}},
      {"0.-3.1", {}},
      {"65536.3.1", {}},
      {"0.4294967296.1", {}},
      {" 0.3.1", {}},
      {"0.3.1x", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(jobs::parse_fence(row.text), row.lease);
  }
}

class Endings : public ApiTest {
 protected:
  http::Response end(const std::string& id, const std::string& verb, const std::string& body) {
    return call("POST", "/api/v1/jobs/" + id + "/" + verb, {{"Content-Type", "application/json"}},
                body);
  }
};

TEST_F(Endings, ACompleteCarriesTheFenceAndTheResult) {
  const std::string id = store(core::Seq{1});
  core::EndJob got;
  submitter.answer = [&got](core::Command& command) -> core::Reply {
    got = command.get<core::EndJob>();
    return core::JobEnded{core::JobEnded::Outcome::done, core::Status::succeeded};
  };

  const http::Response response =
      end(id, "complete", R"({"fence": "0.4.2", "result": {"b": 1.0, "a": 12345678901234567890}})");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(
      json(response),
      boost::json::parse(R"({"id": ")" + id +
                         R"(", "status": "SUCCEEDED", "status_url": "/api/v1/jobs/)" + id + "\"}"));
  EXPECT_EQ(got.tenant, core::TenantId{1});
  EXPECT_EQ(got.id, id_of(core::Seq{1}));
  EXPECT_EQ(std::get<core::PushLease>(got.lease), (core::PushLease{{}, {4, 2}}));
  EXPECT_TRUE(got.succeeded);
  EXPECT_EQ(got.content_type, "application/json");
  EXPECT_EQ(got.result, R"({"a":12345678901234567890,"b":1})");
}

TEST_F(Endings, AReceiptIsOfTheJobAndOfItsQueue) {
  core::Message message;
  message.queue = "q";
  message.pull.emplace();
  message.pull->first_id = id_of(core::Seq{9});
  const std::string id = store(core::Seq{1}, message);
  core::EndJob got;
  submitter.answer = [&got](core::Command& command) -> core::Reply {
    got = command.get<core::EndJob>();
    return core::JobEnded{core::JobEnded::Outcome::done, core::Status::pending};
  };
  const core::Receipt receipt{id_of(core::Seq{1}), 3};
  const auto handle = [&](const std::string& queue) {
    return sqs::to_handle(options.receipt_key, core::TenantId{1}, queue, receipt);
  };
  const std::string body =
      R"(", "error": {"message": "busy", "code": "later"}, "retry_after": "5s"})";

  for (const std::string& known_as :
       {id, core::uuid_text(id_of(core::Seq{1})), core::to_text(id_of(core::Seq{9}))}) {
    SCOPED_TRACE(known_as);
    EXPECT_EQ(end(known_as, "fail", R"({"receipt": ")" + handle("q") + body).status, 200);
    EXPECT_EQ(std::get<core::Receipt>(got.lease).receive, 3U);
    EXPECT_EQ(got.id, id_of(core::Seq{1}));
    EXPECT_FALSE(got.succeeded);
    EXPECT_EQ(got.error, "later: busy");
    EXPECT_EQ(got.retry_after, Millis{5000});
  }
  EXPECT_EQ(end(id, "fail", R"({"receipt": ")" + handle("r") + body).status, 400) << "forged";
  EXPECT_EQ(end(store(core::Seq{2}), "fail", R"({"receipt": ")" + handle("q") + body).status, 400)
      << "of another job";
}

TEST_F(Endings, EveryOutcomeHasItsAnswer) {
  struct Row {
    core::Reply reply;
    int status;
    std::string_view code;
    std::string_view job_status;
  };
  using Outcome = core::JobEnded::Outcome;
  const Row rows[] = {
      {core::JobEnded{Outcome::again, core::Status::succeeded}, 200, "", ""},
      {core::JobEnded{Outcome::lease_lost, core::Status::pending}, 409, "lease_lost", "PENDING"},
      {core::JobEnded{Outcome::finished, core::Status::canceled}, 409, "job_finished", "CANCELED"},
      {fail(ErrorKind::not_found, "no job"), 404, "not_found", ""},
      {fail(ErrorKind::conflict, "no"), 409, "conflict", ""},
  };
  const std::string id = store(core::Seq{1});
  for (const Row& row : rows) {
    SCOPED_TRACE(row.code);
    submitter.answer = [&row](core::Command&) -> core::Reply { return row.reply; };

    const http::Response response = end(id, "complete", R"({"fence": "0.1.1"})");

    EXPECT_EQ(response.status, row.status);
    if (row.status != 200) {
      EXPECT_EQ(json(response).at("code").as_string(), row.code);
    }
    if (!row.job_status.empty()) {
      EXPECT_EQ(json(response).at("job_status").as_string(), row.job_status);
    }
  }
}

TEST_F(Endings, AJobShowsTheResultThatItWasCompletedWith) {
  struct Row {
    std::string_view type;
    std::string_view body;
    bool told;
    std::string_view shown;
  };
  const Row rows[] = {
      {"application/json", R"({"a":1})", true, R"({"a":1})"},
      {"text/plain", R"({"a")", true, R"("{\"a\"")"},
      {"application/json", "{}", false, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    core::MessageState state;
    state.status = core::Status::succeeded;
    state.attempts = 1;
    state.last = core::Attempt{.fence = {1, 1},
                               .response_status = 200,
                               .response_headers = {{"Content-Type", std::string(row.type)}},
                               .response_body = std::string(row.body),
                               .told = row.told};
    const std::string id = store(core::Seq{1}, {}, state);

    const boost::json::value job = json(call("GET", "/api/v1/jobs/" + id));

    EXPECT_EQ(job.get_object().contains("result"), row.told);
    if (row.told) {
      EXPECT_EQ(job.at("result").at("body"), boost::json::parse(row.shown));
      EXPECT_EQ(job.at("result").at("size").as_int64(), static_cast<std::int64_t>(row.body.size()));
    }
    core::Message redacted;
    redacted.redact = {"body"};
    EXPECT_FALSE(json(call("GET", "/api/v1/jobs/" + store(core::Seq{2}, redacted, state)))
                     .get_object()
                     .contains("result"));
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
