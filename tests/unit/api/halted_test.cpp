#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Halted : public ApiTest {
 protected:
  http::Response resolve(std::string body) {
    return call("POST", "/api/v1/queues/q.fifo/halted", {}, std::move(body));
  }
};

TEST_F(Halted, MessagesAreListed) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return core::HaltedListed{{{"g", id_of(core::Seq{7}), 3}}};
  };
  const http::Response response = call("GET", "/api/v1/queues/q.fifo/halted");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"halted":[{"group":"g","message_id":")" +
                               core::to_text(id_of(core::Seq{7})) + R"(","receives":3}]})");
  const auto& question = submitter.taken.back().get<core::ListHalted>();
  EXPECT_EQ(question.tenant, core::TenantId{1});
  EXPECT_EQ(question.queue, "q.fifo");
}

TEST_F(Halted, AreRetriedEditedOrSkipped) {
  using Action = core::ResolveHalted::Action;
  const struct {
    std::string body;
    Action action;
    std::optional<std::string> edited;
  } rows[] = {{R"({"group":"g","action":"retry"})", Action::retry, {}},
              {R"({"group":"g","action":"retry","body":"\u00e9"})", Action::retry, "\xc3\xa9"},
              {R"({"group":"g","action":"skip"})", Action::skip, {}}};
  for (const auto& row : rows) {
    EXPECT_EQ(resolve(row.body).status, 200) << row.body;
    const auto& command = submitter.taken.back().get<core::ResolveHalted>();
    EXPECT_EQ(command.tenant, core::TenantId{1});
    EXPECT_EQ(command.queue, "q.fifo");
    EXPECT_EQ(command.group, "g");
    EXPECT_EQ(command.action, row.action);
    EXPECT_EQ(command.body, row.edited);
  }
}

TEST_F(Halted, NonsenseIsRefusedAndNotSubmitted) {
  for (const char* const body :
       {"", "[]", "{}", R"({"group":"g"})", R"({"action":"skip"})",
        R"({"group":"","action":"skip"})", R"({"group":1,"action":"skip"})",
        R"({"group":"g","action":"dance"})", R"({"group":"g","action":null})",
        R"({"group":"g","action":"skip","more":"x"})", R"({"group":"g","action":"retry","body":1})",
        R"({"group":"g","action":"retry","body":""})",
        R"({"group":"g","action":"retry","body":"\u0001"})"}) {
    EXPECT_EQ(resolve(body).status, 400) << body;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(Halted, WhatTheCoreSaysIsTold) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "group g of queue q.fifo has not stopped");
  };
  EXPECT_EQ(resolve(R"({"group":"g","action":"skip"})").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/queues/q.fifo/halted").status, 404);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
