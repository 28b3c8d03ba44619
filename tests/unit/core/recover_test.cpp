#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Limits tiny() {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  limits.destination_parallelism = 1;
  return limits;
}

TEST(Recover, RaisesTheEpochEveryTime) {
  Rig rig;
  EXPECT_EQ(rig.machine->epoch(), 1U);
  rig.restart();
  EXPECT_EQ(rig.machine->epoch(), 2U);
  EXPECT_EQ(rig.reader.rows<Meta>().at({}).epoch, 2U);
}

TEST(Recover, NeverRunsBackInTime) {
  Rig rig;
  rig.run(UpsertQueue{tenant_one, "q", {}, {}});
  rig.pass(Millis{5000});
  rig.run(UpsertQueue{tenant_one, "q", 2, {}});
  const Moment stored = rig.reader.rows<Meta>().at({}).time;
  rig.now -= Millis{1'000'000};
  rig.restart();

  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));

  EXPECT_GE(ran.starts.at(0).started_at, stored);
}

TEST(Recover, PutsNoEventBeforeOneThatIsInTheLog) {
  Rig rig;
  rig.pass(Millis{700});  // less than meta_every: the time of the last meta record lags behind
  rig.publish(message_to("http://a"));
  const Moment last = rig.reader.rows<Events>().rbegin()->second.time;
  ASSERT_LT(rig.reader.rows<Meta>().at({}).time, last);
  rig.now -= Millis{600};

  rig.restart();
  rig.publish(message_to("http://a"));

  EXPECT_GE(rig.reader.rows<Events>().rbegin()->second.time, last);
}

TEST(Recover, FindsMessagesThatHadNoIndexEntryYet) {
  Rig rig(tiny());
  rig.publish(message_to("http://a"));
  rig.publish(message_to("http://a"));
  ASSERT_TRUE(rig.reader.rows<LaneRow>().empty());

  rig.restart();

  EXPECT_EQ(rig.reader.rows<LaneRow>().size(), 2U);
  Ran ran = rig.run();
  EXPECT_EQ(ran.started(), seqs({1}));
  EXPECT_EQ(rig.run(Rig::outcome(ran.starts.at(0), true)).started(), seqs({2}));
}

TEST(Recover, FindsEveryMessageBeyondTheWindowInOrder) {
  Rig rig(tiny());
  for (int i = 0; i < 20; ++i) {
    rig.publish(queued("q"));
  }
  rig.restart();
  EXPECT_LE(rig.machine->in_memory(), 4U);

  std::vector<std::uint64_t> order;
  std::vector<StartAttempt> running = rig.run().starts;
  for (int round = 0; round < 200 && !running.empty(); ++round) {
    order.push_back(running.front().id.seq.value());
    Ran ran = rig.run(Rig::outcome(running.front(), true));
    if (ran.starts.empty()) {
      ran = rig.run();  // the window was read on at the beginning of this batch
    }
    running = std::move(ran.starts);
  }

  ASSERT_EQ(order.size(), 20U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(rig.counts().succeeded, 20U);
  EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());
}

TEST(Recover, TheWindowsOfAllLanesShareTheBudget) {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 64;
  limits.window_budget = 128;
  limits.index_after = Millis{10};
  Rig rig(limits);
  for (int i = 0; i < 40 * 32; ++i) {
    Message later = message_to("http://host" + std::to_string(i % 32));
    later.not_before = rig.now + Millis{1'000'000};
    rig.publish(later);
  }
  rig.pass(limits.index_after);
  for (int i = 0; i < 4; ++i) {
    rig.run();
  }

  rig.restart();

  EXPECT_LE(rig.machine->in_memory(), limits.window_budget);
  EXPECT_GE(rig.machine->in_memory(), limits.window_budget / 2);
}

TEST(Recover, KeepsAttemptsAndDueTimes) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{100}, Millis{100}})));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  rig.restart();

  rig.pass(Millis{99});
  EXPECT_TRUE(rig.run().starts.empty());
  rig.pass(Millis{1});
  const Ran again = rig.run();

  ASSERT_EQ(again.starts.size(), 1U);
  EXPECT_EQ(again.starts[0].fence, (Fence{2, 2}));
  EXPECT_EQ(again.starts[0].retried, 1U);
}

TEST(Recover, AQueueKeepsTheSlotOfWhatItHadBegun) {
  Rig rig;
  const Ran ran =
      rig.run(Rig::publishing(queued("q", "", {Millis{100}})), Rig::publishing(queued("q")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  rig.restart();

  EXPECT_TRUE(rig.run().starts.empty());
  rig.pass(Millis{100});
  EXPECT_EQ(rig.run().started(), seqs({1}));
}

TEST(Recover, DoesNotReuseTheNumberOfAPurgedMessage) {
  Limits limits;
  limits.retention_finished = Millis{1000};
  limits.index_after = Millis{10};
  Rig rig(limits);
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.run(Rig::outcome(ran.starts.at(0), true));
  for (int i = 0; i < 10; ++i) {
    rig.pass(Millis{30'000});
    rig.run();
  }
  ASSERT_TRUE(rig.reader.rows<Message>().empty());
  rig.restart();

  EXPECT_GT(rig.publish(message_to("http://a")).seq, ran.starts[0].id.seq);
}

TEST(Recover, TwiceInARowChangesNothingButTheEpoch) {
  Rig rig(tiny());
  for (int i = 0; i < 9; ++i) {
    rig.publish(message_to("http://a"));
  }
  rig.restart();
  const auto lanes = rig.reader.rows<LaneRow>();
  const std::size_t in_memory = rig.machine->in_memory();
  rig.restart();

  EXPECT_EQ(rig.reader.rows<LaneRow>(), lanes);
  EXPECT_EQ(rig.machine->in_memory(), in_memory);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
