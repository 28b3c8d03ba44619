#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Queues : public ApiTest {
 protected:
  Queues() {
    core::Queue queue{.tenant = core::TenantId{1}, .name = "orders"};
    queue.parallelism = 3;
    queue.created_at = now;
    queue.updated_at = now + Millis{5};
    queue.lag = 7;
    core::Queue gone = queue;
    gone.name = "gone";
    gone.deleted = true;
    submitter.reader->put<core::Queue>(queue);
    submitter.reader->put<core::Queue>(gone);
  }

  http::Response put(std::string body) { return call("POST", "/v2/queues", {}, std::move(body)); }

  template <class T>
  T only_command() {
    EXPECT_EQ(submitter.taken.size(), 1U);
    const T* const command =
        submitter.taken.empty() ? nullptr : submitter.taken.front().get_if<T>();
    EXPECT_NE(command, nullptr);
    return command == nullptr ? T{} : *command;
  }
};

constexpr const char* orders = R"({"createdAt": 1700000000000, "updatedAt": 1700000000005,
  "name": "orders", "parallelism": 3, "lag": 7, "paused": false})";

TEST_F(Queues, AreShownOneByOneAndAllTogether) {
  EXPECT_EQ(json(call("GET", "/v2/queues/orders")), boost::json::parse(orders));
  for (const char* target : {"/v2/queues", "/v2/queues/"}) {
    EXPECT_EQ(json(call("GET", target)), boost::json::parse("[" + std::string(orders) + "]"));
  }
}

TEST_F(Queues, AnEmptyListIsAnArray) {
  submitter.reader->rows<core::Queue>().clear();
  EXPECT_EQ(call("GET", "/v2/queues").body, "[]");
}

TEST_F(Queues, OneThatIsBeingDeletedIsNotThere) {
  EXPECT_EQ(call("GET", "/v2/queues/gone").status, 404);
  EXPECT_EQ(call("POST", "/v2/queues/gone/pause").status, 404);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Queues, AMemberThatNobodyKnowsIsRefused) {
  const http::Response response = put(R"({"queueName": "orders", "parallelims": 5})");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(error_of(response),
            "unknown member \"parallelims\"; known: queueName, parallelism and paused");
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Queues, ANewNameHasABoundAndAnOldOneStaysUsable) {
  const std::string longest(256, 'q');
  const std::string longer(257, 'q');
  core::Queue stored = submitter.reader->rows<core::Queue>().at({core::TenantId{1}, "orders"});
  stored.name = longer;
  submitter.reader->put<core::Queue>(stored);

  EXPECT_EQ(put(R"({"queueName": ")" + longest + "\"}").status, 200);
  EXPECT_EQ(put(R"({"queueName": ")" + longer + "\"}").status, 400);
  EXPECT_EQ(call("POST", "/v2/enqueue/" + longest + "/https://example.com/").status, 201);
  EXPECT_EQ(call("POST", "/v2/enqueue/" + longer + "/https://example.com/").status, 400);
  EXPECT_EQ(
      call("POST", "/v2/publish/https://example.com/", {{"Upstash-Queue-Name", longer}}).status,
      400);
  EXPECT_EQ(call("GET", "/v2/queues/" + longer).status, 200);
  EXPECT_EQ(call("POST", "/v2/queues/" + longer + "/pause").status, 200);
  EXPECT_EQ(call("DELETE", "/v2/queues/" + longer).status, 200);
}

TEST_F(Queues, AnUpsertGivesWhatItSaysAndNothingElse) {
  EXPECT_EQ(put(R"({"queueName": "a.b_c-1", "parallelism": 2, "paused": true})").status, 200);
  const auto all = only_command<core::UpsertQueue>();
  EXPECT_EQ(all.tenant, core::TenantId{1});
  EXPECT_EQ(all.name, "a.b_c-1");
  EXPECT_EQ(all.parallelism, 2U);
  EXPECT_EQ(all.paused, true);

  submitter.taken.clear();
  EXPECT_EQ(put(R"({"queueName": "q", "parallelism": null})").status, 200);
  const auto none = only_command<core::UpsertQueue>();
  EXPECT_FALSE(none.parallelism.has_value());
  EXPECT_FALSE(none.paused.has_value());
}

TEST_F(Queues, NonsenseIsRefusedAndNotSubmitted) {
  for (const char* body :
       {"", "x", "[]", "null", R"({"parallelism": 1})", R"({"queueName": 5})",
        R"({"queueName": ""})", R"({"queueName": "a b"})", R"({"queueName": "a/b"})",
        R"({"queueName": "q", "parallelism": 0})", R"({"queueName": "q", "parallelism": -1})",
        R"({"queueName": "q", "parallelism": 1.5})", R"({"queueName": "q", "parallelism": "2"})",
        R"({"queueName": "q", "parallelism": 1e30})",
        R"({"queueName": "q", "parallelism": 4294967296})",
        R"({"queueName": "q", "paused": "yes"})", R"({"queueName": "q", "paused": 1})"}) {
    SCOPED_TRACE(body);
    const http::Response response = put(body);
    EXPECT_EQ(response.status, 400);
    EXPECT_FALSE(error_of(response).empty());
  }
  for (const auto& [method, target, status] :
       {std::tuple{"GET", "/v2/queues/a%20b", 400}, std::tuple{"DELETE", "/v2/queues/a%20b", 400},
        std::tuple{"POST", "/v2/queues/a%20b/pause", 400},
        std::tuple{"GET", "/v2/queues/nobody", 404},
        std::tuple{"POST", "/v2/queues/nobody/pause", 404},
        std::tuple{"POST", "/v2/queues/nobody/resume", 404},
        std::tuple{"PUT", "/v2/queues/orders", 405}}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(call(method, target).status, status);
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Queues, PauseAndResumeChangeThePauseAlone) {
  for (const bool paused : {true, false}) {
    submitter.taken.clear();
    EXPECT_EQ(call("POST", paused ? "/v2/queues/orders/pause" : "/v2/queues/orders/resume/").status,
              200);
    const auto command = only_command<core::UpsertQueue>();
    EXPECT_EQ(command.name, "orders");
    EXPECT_EQ(command.paused, paused);
    EXPECT_FALSE(command.parallelism.has_value());
  }
}

TEST_F(Queues, ADeleteNeedsNoQueue) {
  EXPECT_EQ(call("DELETE", "/v2/queues/nobody").status, 200);
  EXPECT_EQ(only_command<core::DeleteQueueCommand>().name, "nobody");
}

TEST_F(Queues, WhatTheCoreRefusesIsTold) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::quota_reached, "too many queues");
  };
  const http::Response response = put(R"({"queueName": "q"})");
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(error_of(response), "too many queues");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
