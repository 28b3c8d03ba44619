#include <gtest/gtest.h>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using Outcome = JobEnded::Outcome;

EndJob completing(const StartAttempt& start, std::string result = R"({"ok":true})") {
  return {.tenant = start.tenant,
          .id = start.id,
          .lease = PushLease{start.partition, start.fence},
          .succeeded = true,
          .content_type = "application/json",
          .result = std::move(result)};
}
EndJob failing(const StartAttempt& start, bool give_up = false,
               std::optional<Millis> retry_after = {}) {
  return {.tenant = start.tenant,
          .id = start.id,
          .lease = PushLease{start.partition, start.fence},
          .error = "busy: try later",
          .give_up = give_up,
          .retry_after = retry_after};
}
EndJob of_receipt(EndJob command, const Receipt& receipt) {
  command.tenant = tenant_one;
  command.id = receipt.id;
  command.lease = receipt;
  return command;
}

TEST(EndJob, EndsAPushAsItsHolderSays) {
  struct Row {
    std::string_view name;
    std::vector<Millis> waits;
    bool succeeded;
    bool give_up;
    Status status;
  };
  const Row rows[] = {
      {"completed", {Millis{10}}, true, false, Status::succeeded},
      {"failed without retries", {}, false, false, Status::failed},
      {"failed with a retry left", {Millis{10}}, false, false, Status::pending},
      {"given up with a retry left", {Millis{10}}, false, true, Status::failed},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const StartAttempt start =
        rig.run(Rig::publishing(message_to("http://a", row.waits))).starts.at(0);
    rig.pass(Millis{3});

    const auto ended =
        rig.run(row.succeeded ? completing(start) : failing(start, row.give_up)).only<JobEnded>();

    EXPECT_EQ(ended.outcome, Outcome::done);
    EXPECT_EQ(ended.status, row.status);
    const MessageState& state = rig.reader.rows<MessageState>().at(Seq{1});
    EXPECT_EQ(state.status, row.status);
    ASSERT_TRUE(state.last.has_value());
    EXPECT_TRUE(state.last->told);
    EXPECT_EQ(state.last->fence, start.fence);
    EXPECT_EQ(state.last->ended_at, rig.now);
    EXPECT_EQ(state.last->response_status, row.succeeded ? 200 : 0);
    EXPECT_EQ(state.last->response_body, row.succeeded ? R"({"ok":true})" : "");
    EXPECT_EQ(state.last->error, row.succeeded ? "" : "busy: try later");
    EXPECT_EQ(rig.machine->in_flight(), 0U);
    EXPECT_TRUE(rig.counts().conserved());
    EXPECT_FALSE(rig.run(Rig::outcome(start, true)).replies.at(0))
        << "the answer comes when its lease is gone";
    EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).status, row.status);
  }
}

TEST(EndJob, OnlyTheLeaseThatCountsEndsIt) {
  Rig rig;
  const StartAttempt start =
      rig.run(Rig::publishing(message_to("http://a", {Millis{10}, Millis{10}}))).starts.at(0);
  const auto lost = [&rig](EndJob command) { return rig.run(std::move(command)).only<JobEnded>(); };
  EndJob wrong = completing(start);
  std::get<PushLease>(wrong.lease).fence.attempt = 2;
  EXPECT_EQ(lost(wrong).outcome, Outcome::lease_lost);
  EXPECT_EQ(lost(wrong).status, Status::running);
  wrong = completing(start);
  std::get<PushLease>(wrong.lease).partition = PartitionId{1};
  EXPECT_EQ(lost(wrong).outcome, Outcome::lease_lost) << "of another partition";
  EXPECT_EQ(lost(of_receipt(completing(start), {start.id, 1})).outcome, Outcome::lease_lost)
      << "it is not pulled";
  EXPECT_FALSE(rig.reader.rows<MessageState>().contains(Seq{1}));

  rig.run(failing(start, false, Millis{50}));
  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).due, rig.now + Millis{50});
  const auto between = lost(completing(start));
  EXPECT_EQ(between.outcome, Outcome::lease_lost);
  EXPECT_EQ(between.status, Status::pending);
  rig.pass(Millis{50});
  const StartAttempt second = rig.run().starts.at(0);
  EXPECT_EQ(lost(completing(start)).outcome, Outcome::lease_lost) << "another one has it by now";

  rig.restart();
  EXPECT_EQ(lost(completing(second)).outcome, Outcome::lease_lost) << "of an earlier epoch";
}

TEST(EndJob, ACompleteMayBeSaidAgainAndNothingElse) {
  Rig rig;
  const StartAttempt start = rig.run(Rig::publishing(message_to("http://a"))).starts.at(0);
  rig.run(completing(start)).only<JobEnded>();
  const MessageState before = rig.reader.rows<MessageState>().at(Seq{1});

  struct Row {
    std::string_view name;
    EndJob command;
    Outcome outcome;
  };
  EndJob other_type = completing(start);
  other_type.content_type = "text/plain";
  EndJob other_fence = completing(start);
  std::get<PushLease>(other_fence.lease).fence.epoch = 9;
  const Row rows[] = {
      {"the same", completing(start), Outcome::again},
      {"another result", completing(start, "1"), Outcome::finished},
      {"another type", other_type, Outcome::finished},
      {"another fence", other_fence, Outcome::finished},
      {"a failure", failing(start), Outcome::finished},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto said = rig.run(row.command).only<JobEnded>();
    EXPECT_EQ(said.outcome, row.outcome);
    EXPECT_EQ(said.status, Status::succeeded);
    EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}), before);
  }
  rig.restart();
  EXPECT_EQ(rig.run(completing(start)).only<JobEnded>().outcome, Outcome::again);
}

TEST(EndJob, WhatEndedByItsAnswerWasNotCompleted) {
  Rig rig;
  const StartAttempt start = rig.run(Rig::publishing(message_to("http://a"))).starts.at(0);
  rig.run(Rig::outcome(start, true));

  EXPECT_EQ(rig.run(completing(start, "")).only<JobEnded>().outcome, Outcome::finished);
}

TEST(EndJob, NobodyEndsAJobOfSomebodyElse) {
  Rig rig;
  const StartAttempt start = rig.run(Rig::publishing(message_to("http://a"))).starts.at(0);
  EndJob other = completing(start);
  other.tenant = TenantId{2};
  EndJob guessed = completing(start);
  guessed.id.nonce ^= 1;

  for (EndJob& command : std::vector{other, guessed}) {
    const Ran ran = rig.run(std::move(command));
    ASSERT_FALSE(ran.replies.at(0));
    EXPECT_EQ(ran.replies.at(0).error().kind, ErrorKind::not_found);
  }
  EXPECT_TRUE(rig.run(completing(start)).only<JobEnded>().outcome == Outcome::done);
}

TEST(EndJob, ACancelledOneThatFailsIsCancelledAndOneThatSucceedsIsNot) {
  for (const bool succeeded : {true, false}) {
    Rig rig;
    const StartAttempt start =
        rig.run(Rig::publishing(message_to("http://a", {Millis{1}}))).starts.at(0);
    rig.run(CancelMessage{tenant_one, start.id});

    const auto ended = rig.run(succeeded ? completing(start) : failing(start)).only<JobEnded>();

    EXPECT_EQ(ended.status, succeeded ? Status::succeeded : Status::canceled);
    EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).status, ended.status);
  }
}

TEST(EndJob, TheCallbackIsToldTheWholeResult) {
  Limits limits;
  limits.response_bytes_kept = 4;
  Rig rig(limits);
  Message message = message_to("http://a");
  message.callback = Callback{.url = "http://c/", .host = "http://c"};
  const StartAttempt start = rig.run(Rig::publishing(std::move(message))).starts.at(0);

  const Ran ran = rig.run(completing(start, R"("a long result")"));

  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_NE(ran.starts[0].message->body.find("\"status\":200"), std::string::npos);
  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).last->response_body, R"("a long result")");
}

TEST(EndJob, EndsWhatIsPulledByItsReceipt) {
  PullRig rig;
  rig.make("dead");
  PullSettings settings;
  settings.dead_letters_to = "dead";
  rig.make("q", settings);
  rig.send("q", "a");
  rig.send("q", "b");
  rig.send("q", "c");
  EXPECT_EQ(rig.receive("q"), (Bodies{"a", "b", "c"}));
  const EndJob completed{.succeeded = true, .content_type = "text/plain", .result = "fine"};
  EndJob failed{.error = "no"};
  failed.retry_after = Millis{5000};
  EndJob given_up{.error = "never"};
  given_up.give_up = true;

  EXPECT_EQ(rig.run(of_receipt(completed, rig.receipts["a"])).only<JobEnded>().status,
            Status::succeeded);
  EXPECT_EQ(rig.run(of_receipt(failed, rig.receipts["b"])).only<JobEnded>().status,
            Status::running);
  EXPECT_EQ(rig.run(of_receipt(given_up, rig.receipts["c"])).only<JobEnded>().status,
            Status::failed);

  const MessageState a = rig.reader.rows<MessageState>().at(rig.receipts["a"].id.seq);
  EXPECT_EQ(a.last->response_body, "fine");
  EXPECT_TRUE(a.last->told);
  EXPECT_EQ(rig.run(of_receipt(completed, rig.receipts["a"])).only<JobEnded>().outcome,
            Outcome::again);
  EXPECT_EQ(rig.reader.rows<MessageState>().at(rig.receipts["c"].id.seq).last->error, "never");
  EXPECT_EQ(rig.receive("dead"), (Bodies{"c"}));
  EXPECT_TRUE(rig.receive("q").empty());
  rig.pass(Millis{5000});
  EXPECT_EQ(rig.receive("q"), (Bodies{"b"}));
  EXPECT_EQ(rig.run(of_receipt(completed, {rig.receipts["b"].id, 1})).only<JobEnded>().outcome,
            Outcome::lease_lost)
      << "received again since";
}

TEST(EndJob, AReceiptIsGoodWhileItsMessageIsHidden) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q", 1, Millis{1000});
  rig.restart();
  const EndJob completed{.succeeded = true};

  rig.pass(Millis{1000});
  const auto late = rig.run(of_receipt(completed, rig.receipts["a"])).only<JobEnded>();
  EXPECT_EQ(late.outcome, Outcome::lease_lost);
  EXPECT_EQ(late.status, Status::pending);

  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
  rig.restart();
  EXPECT_EQ(rig.run(of_receipt(completed, rig.receipts["a"])).only<JobEnded>().outcome,
            Outcome::done)
      << "a restart takes no receiver its message away";
}

TEST(EndJob, WithoutADeadLetterQueueItHasFailedAndIsGone) {
  PullRig rig;
  rig.make("q");
  rig.send("q", "a");
  rig.receive("q");
  EndJob given_up{.error = "never"};
  given_up.give_up = true;

  EXPECT_EQ(rig.run(of_receipt(given_up, rig.receipts["a"])).only<JobEnded>().status,
            Status::failed);
  EXPECT_EQ(rig.counts().failed, 1U);
  EXPECT_TRUE(rig.counts().conserved());
  EXPECT_EQ(rig.count("q").in_flight, 0U);
}

TEST(EndJob, AGroupThatStopsAtFailuresIsNotGivenUpAtOnce) {
  PullRig rig;
  PullSettings settings;
  settings.fifo = true;
  settings.halt = true;
  rig.make("q.fifo", settings);
  rig.send("q.fifo", "a", "g");
  rig.receive("q.fifo");
  EndJob given_up{.error = "never"};
  given_up.give_up = true;

  const Ran ran = rig.run(of_receipt(given_up, rig.receipts["a"]));
  ASSERT_FALSE(ran.replies.at(0));
  EXPECT_EQ(ran.replies.at(0).error().kind, ErrorKind::conflict);
  given_up.give_up = false;
  given_up.retry_after = Millis{0};
  EXPECT_EQ(rig.run(of_receipt(given_up, rig.receipts["a"])).only<JobEnded>().status,
            Status::pending);
  EXPECT_EQ(rig.receive("q.fifo"), (Bodies{"a"}));
}

TEST(EndJob, EndsWhatItsQueuePushesByItsFence) {
  PullRig rig;
  PullSettings settings;
  settings.push = {.url = "http://h.example/x"};
  rig.make("q", settings);
  const StartAttempt start = rig.run(PullRig::sending("q", "a")).starts.at(0);

  EXPECT_EQ(rig.run(failing(start, false, Millis{700})).only<JobEnded>().status, Status::running);
  EXPECT_EQ(rig.machine->in_flight(), 0U);
  EXPECT_EQ(rig.run(completing(start)).only<JobEnded>().outcome, Outcome::lease_lost);
  rig.pass(Millis{700});
  const StartAttempt second = rig.run().starts.at(0);
  EXPECT_EQ(rig.run(completing(second)).only<JobEnded>().status, Status::succeeded);
  EXPECT_EQ(rig.run(completing(second)).only<JobEnded>().outcome, Outcome::again);
  EXPECT_FALSE(rig.run(Rig::outcome(second, false)).replies.at(0));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
