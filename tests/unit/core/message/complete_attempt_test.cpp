#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TEST(CompleteAttempt, EndsAsTheOutcomeSays) {
  struct Row {
    std::string_view name;
    std::vector<Millis> waits;
    bool delivered;
    bool give_up;
    Status status;
    bool in_dlq;
  };
  const Row rows[] = {
      {"delivered", {}, true, false, Status::succeeded, false},
      {"failed without retries", {}, false, false, Status::failed, true},
      {"failed with a retry left", {Millis{10}}, false, false, Status::pending, false},
      {"gave up with a retry left", {Millis{10}}, false, true, Status::failed, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const Ran ran = rig.run(Rig::publishing(message_to("http://a", row.waits)));
    CompleteAttempt outcome = Rig::outcome(ran.starts.at(0), row.delivered);
    outcome.give_up = row.give_up;

    rig.run(std::move(outcome)).only<Done>();

    const MessageState& state = rig.reader.rows<MessageState>().at(Seq{1});
    EXPECT_EQ(state.status, row.status);
    EXPECT_EQ(state.in_dlq, row.in_dlq);
    EXPECT_EQ(state.attempts, 1U);
    EXPECT_EQ(rig.reader.rows<DeadLetterKey>().size(), row.in_dlq ? 1U : 0U);
    EXPECT_EQ(rig.counts().pending, is_final(row.status) ? 0U : 1U);
    EXPECT_TRUE(rig.counts().conserved());
    EXPECT_EQ(rig.machine->in_flight(), 0U);
    EXPECT_EQ(rig.machine->in_memory(), is_final(row.status) ? 0U : 1U);
  }
}

TEST(CompleteAttempt, RetriesWhenDueAndCountsOn) {
  Rig rig;
  Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{10}, Millis{20}})));
  ran = rig.run(Rig::outcome(ran.starts.at(0), false));
  EXPECT_TRUE(ran.starts.empty());
  rig.pass(Millis{9});
  EXPECT_TRUE(rig.run().starts.empty());

  rig.pass(Millis{1});
  ran = rig.run();

  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].fence, (Fence{1, 2}));
  EXPECT_EQ(ran.starts[0].retried, 1U);
  rig.run(Rig::outcome(ran.starts[0], false));
  EXPECT_EQ(rig.reader.scan(Range<Attempt>::of(Seq{1})).size(), 1U);
  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).due, rig.now + Millis{20});
}

TEST(CompleteAttempt, HearsTheReceiversWish) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{10}})));
  CompleteAttempt outcome = Rig::outcome(ran.starts.at(0), false);
  outcome.retry_after = Millis{7000};

  rig.run(std::move(outcome));

  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).due, rig.now + Millis{7000});
}

TEST(CompleteAttempt, OfAnotherLeaseIsRefused) {
  struct Row {
    std::string_view name;
    std::uint32_t epoch;
    std::uint32_t attempt;
    std::uint64_t seq;
  };
  const Row rows[] = {
      {"an earlier epoch", 0, 1, 1},
      {"a later attempt", 1, 2, 1},
      {"an unknown message", 1, 1, 77},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
    CompleteAttempt outcome = Rig::outcome(ran.starts.at(0), true);
    outcome.fence = {row.epoch, row.attempt};
    outcome.id.seq = Seq{row.seq};

    const Ran refused = rig.run(std::move(outcome));

    ASSERT_FALSE(refused.replies.at(0).has_value());
    EXPECT_EQ(refused.replies[0].error().kind, ErrorKind::conflict);
    EXPECT_TRUE(refused.mutations.empty());
    EXPECT_TRUE(rig.machine->leased(Seq{1}));
  }
}

TEST(CompleteAttempt, CountsOnceAlthoughReportedTwice) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));

  const Ran both =
      rig.run(Rig::outcome(ran.starts.at(0), true), Rig::outcome(ran.starts.at(0), true));

  EXPECT_TRUE(both.replies.at(0).has_value());
  EXPECT_FALSE(both.replies.at(1).has_value());
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

TEST(CompleteAttempt, FromBeforeARestartIsRefusedAndTheMessageSentAgain) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.restart();

  const Ran late = rig.run(Rig::outcome(ran.starts.at(0), true));

  EXPECT_FALSE(late.replies.at(0).has_value());
  ASSERT_EQ(late.starts.size(), 1U);
  EXPECT_EQ(late.starts[0].fence, (Fence{2, 1}));  // higher than the one that was on the wire
  EXPECT_GT(late.starts[0].fence, ran.starts[0].fence);
}

TEST(Lease, ThatRunsOutIsAFailedAttempt) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{10}})));
  rig.pass(ran.starts.at(0).lease_until - rig.now - Millis{1});
  rig.run();
  EXPECT_TRUE(rig.machine->leased(Seq{1}));

  rig.pass(Millis{1});
  rig.run();

  EXPECT_FALSE(rig.machine->leased(Seq{1}));
  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).attempts, 1U);
  EXPECT_FALSE(rig.reader.rows<MessageState>().at(Seq{1}).last->error.empty());
  EXPECT_FALSE(rig.run(Rig::outcome(ran.starts[0], true)).replies.at(0).has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
