#include "core/lane/scheduler.h"

#include <gtest/gtest.h>

#include "unit/core/lane/yard.h"

namespace hk::core {
namespace HK_TEST_FILE {

using testing::of_queue;
using testing::seqs;
using testing::to_host;
using testing::Yard;
using testing::yard_time;

TEST(Scheduler, StartsByDueTimeThenByAcceptance) {
  Yard yard;
  yard.add(1, to_host("a"), yard_time + Millis{5});
  yard.add(2, to_host("a"), yard_time);
  yard.add(3, to_host("a"), yard_time - Millis{5});
  yard.add(4, to_host("a"), yard_time);

  EXPECT_EQ(yard.start_all(), seqs({3, 2, 4}));
  EXPECT_EQ(yard.scheduler.next_timer(), yard_time + Millis{5});
  EXPECT_EQ(yard.start_all(yard_time + Millis{5}), seqs({1}));
}

TEST(Scheduler, AHostThatHangsHoldsUpNobodyElse) {
  Limits limits;
  limits.destination_parallelism = 1;
  Yard yard(limits);
  yard.add(1, to_host("hangs"));
  yard.add(2, to_host("hangs"));
  yard.add(3, to_host("well"));

  EXPECT_EQ(yard.start_all(), seqs({1, 3}));
  yard.end(3);
  yard.add(4, to_host("well"));
  EXPECT_EQ(yard.start_all(), seqs({4}));
}

TEST(Scheduler, AFreedSlotWakesWhoWaitsLongest) {
  Limits limits;
  limits.destination_parallelism = 1;
  Yard yard(limits);
  yard.add(1, to_host("a", 1, "x"));
  yard.add(2, to_host("a", 1, "y"));
  yard.add(3, to_host("a", 1, "z"));
  EXPECT_EQ(yard.start_all(), seqs({1}));

  yard.end(1);
  EXPECT_EQ(yard.start_all(), seqs({2}));
  yard.end(2);
  EXPECT_EQ(yard.start_all(), seqs({3}));
}

TEST(Scheduler, ATurnThatCannotBeUsedIsHandedOn) {
  // Lane "x" waits at the host; when its turn comes its flow gate is shut. The turn must reach "y".
  Limits limits;
  limits.destination_parallelism = 1;
  Yard yard(limits);
  yard.add(1, to_host("a"));
  EXPECT_EQ(yard.start_all(), seqs({1}));
  yard.add(2, to_host("a", 1, "x"));
  yard.add(3, to_host("a", 1, "y"));
  EXPECT_TRUE(yard.start_all().empty());
  yard.scheduler.flow_gate(TenantId{1}, "x").paused = true;

  yard.end(1);

  EXPECT_EQ(yard.start_all(), seqs({3}));
}

TEST(Scheduler, OneOpeningServesAsManyAsItHasRoomFor) {
  Yard yard;
  Gate& gate = yard.scheduler.flow_gate(TenantId{1}, "f");
  gate.paused = true;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    yard.add(i, to_host("host" + std::to_string(i), 1, "f"));
  }
  EXPECT_TRUE(yard.start_all().empty());
  gate.paused = false;
  gate.parallelism = 3;
  yard.scheduler.gate_changed(gate, yard_time);

  EXPECT_EQ(yard.start_all(), seqs({1, 2, 3}));
  yard.end(2);
  EXPECT_EQ(yard.start_all(), seqs({4}));
}

TEST(Scheduler, ARateOpensAgainWithItsWindow) {
  Yard yard;
  Gate& gate = yard.scheduler.flow_gate(TenantId{1}, "f");
  gate.rate = 2;
  gate.period = Millis{100};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    yard.add(i, to_host("a", 1, "f"));
  }
  EXPECT_EQ(yard.start_all(), seqs({1, 2}));
  EXPECT_EQ(yard.scheduler.next_timer(), yard_time + Millis{100});
  EXPECT_TRUE(yard.start_all(yard_time + Millis{99}).empty());
  EXPECT_EQ(yard.start_all(yard_time + Millis{100}), seqs({3, 4}));
  EXPECT_EQ(yard.start_all(yard_time + Millis{200}), seqs({5}));
}

TEST(Scheduler, TenantsTakeTurns) {
  Limits limits;
  limits.quantum = 2;
  limits.destination_parallelism = 0;
  Yard yard(limits);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    yard.add(i, to_host("a", 1));
  }
  yard.add(11, to_host("a", 2));
  yard.add(12, to_host("a", 2));
  yard.add(13, to_host("a", 2));

  EXPECT_EQ(yard.start_all(), seqs({1, 2, 11, 12, 3, 4, 13, 5, 6}));
}

TEST(Scheduler, ATenantAtItsLimitComesBackWhenOneEnds) {
  Limits limits;
  limits.tenant_parallelism = 1;
  Yard yard(limits);
  yard.add(1, to_host("a", 1));
  yard.add(2, to_host("b", 1));
  yard.add(3, to_host("a", 2));
  EXPECT_EQ(yard.start_all(), seqs({1, 3}));

  yard.end(1);
  EXPECT_EQ(yard.start_all(), seqs({2}));
}

TEST(Scheduler, StopsAtTheGlobalLimit) {
  Limits limits;
  limits.global_parallelism = 2;
  Yard yard(limits);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    yard.add(i, to_host("a"));
  }
  EXPECT_EQ(yard.start_all(), seqs({1, 2}));
  EXPECT_FALSE(yard.scheduler.has_runnable());
  yard.end(1);
  EXPECT_TRUE(yard.scheduler.has_runnable());
  EXPECT_EQ(yard.start_all(), seqs({3}));
}

TEST(Scheduler, KeepsAWindowAndAsksForTheRestWhenItRunsLow) {
  Limits limits;
  limits.lane_window_min = 4;
  limits.lane_window_max = 4;
  limits.destination_parallelism = 1;
  Yard yard(limits);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    yard.add(i, to_host("a"));
    EXPECT_TRUE(yard.placed.kept);
  }
  yard.add(5, to_host("a"));
  EXPECT_FALSE(yard.placed.kept);  // the last of a full window makes room itself
  yard.lives.erase(5);

  yard.add(6, to_host("a"), yard_time - Millis{10});
  EXPECT_TRUE(yard.placed.kept);  // it is due before the others, so the last one goes
  ASSERT_NE(yard.placed.evicted, nullptr);
  EXPECT_EQ(yard.placed.evicted->seq, Seq{4});
  yard.lives.erase(4);
  EXPECT_FALSE(yard.scheduler.wants_refill());

  for (const std::uint64_t expected : {6U, 1U, 2U}) {
    EXPECT_EQ(yard.start_all(), seqs({expected}));
    yard.end(expected);
  }
  EXPECT_TRUE(yard.scheduler.wants_refill());
  const auto wanted = yard.scheduler.take_refills(10);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0]->cursor.seq, Seq{3});  // it reads on behind the last that it still has
}

TEST(Scheduler, ForgetsLanesAndDestinationsThatAreEmpty) {
  Yard yard;
  yard.add(1, to_host("a"));
  yard.add(2, of_queue("q"));
  EXPECT_EQ(yard.scheduler.lane_count(), 2U);
  yard.start_all();
  yard.end(1);
  yard.end(2);

  EXPECT_EQ(yard.scheduler.lane_count(), 0U);
  EXPECT_EQ(yard.scheduler.in_flight(), 0U);
  EXPECT_EQ(yard.scheduler.waiting_in_memory(), 0U);
  EXPECT_FALSE(yard.scheduler.next_timer().has_value());
}

TEST(Scheduler, ARemovedHeadLetsTheNextOneGo) {
  Yard yard;
  yard.add(1, to_host("a"), yard_time + Millis{50});
  yard.add(2, to_host("a"), yard_time + Millis{70});
  yard.scheduler.remove(yard.lives.at(1), yard_time);

  EXPECT_EQ(yard.scheduler.next_timer(), yard_time + Millis{70});
  EXPECT_EQ(yard.start_all(yard_time + Millis{70}), seqs({2}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
