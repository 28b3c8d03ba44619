/// Fair queues: in a queue without order the group that has the fewest messages out goes first.
#include <set>
#include <string>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

struct Fair : ::testing::TestWithParam<bool> {
  /// Bodies are the group's name and a number.
  void send(const std::string& group, int count, const std::string& queue = "q") {
    for (int i = 0; i < count; ++i) {
      rig.send(queue, group + std::to_string(i), group);
    }
  }
  void again() {
    if (GetParam()) {
      rig.restart();
      rig.run();
    }
  }
  /// The groups of what one receive is given, in order.
  std::string groups(std::uint32_t max = 10, const std::string& queue = "q") {
    std::string all;
    for (const std::string& body : rig.receive(queue, max, 60 * second)) {
      all += body.empty() ? '?' : body.front();
    }
    return all;
  }
  PullRig rig;
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutRestarts, Fair, ::testing::Bool());

TEST_P(Fair, AQuietGroupGoesBeforeMoreOfANoisyOne) {
  rig.make("q");
  send("n", 80);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(groups(), "nnnnnnnnnn");
  }
  send("a", 3);
  send("b", 2);
  again();

  EXPECT_EQ(groups(), "ababannnnn") << "and the receive is filled up";
  send("c", 12);
  again();
  EXPECT_EQ(groups(), "cccccccccc");
  EXPECT_EQ(groups(), "ccnnnnnnnn");
  EXPECT_EQ(rig.count("q").in_flight, 70U);
}

TEST_P(Fair, WhoHasEquallyMuchOutTakesTurns) {
  rig.make("q");
  for (const char* group : {"a", "b", "c"}) {
    send(group, 4);
  }
  EXPECT_EQ(groups(3), "abc");
  again();
  EXPECT_EQ(groups(3).size(), 3U);
  EXPECT_EQ(rig.receipts.size(), 6U);
  for (const char* group : {"a", "b", "c"}) {
    EXPECT_TRUE(rig.receipts.contains(group + std::string("1"))) << group;
  }
}

TEST_P(Fair, WhatIsDoneOrGivenBackOrRunsOutIsNotOutAnyMore) {
  rig.make("q");
  send("a", 8);
  send("b", 8);
  EXPECT_EQ(groups(4), "abab");
  EXPECT_TRUE(rig.remove("q", "a0").has_value());
  again();
  EXPECT_EQ(groups(1), "a") << "one is out of it, and two of the other";
  EXPECT_TRUE(rig.hide("q", "b0", Millis{0}).has_value());
  EXPECT_TRUE(rig.hide("q", "b1", second).has_value());
  again();
  EXPECT_EQ(groups(1), "b");
  rig.pass(second);
  rig.run();
  EXPECT_EQ(groups(1), "b") << "of two the time of one is over";
}

TEST_P(Fair, ANoisyGroupGoesOnWhenTheOthersHaveNothingVisible) {
  rig.make("q");
  send("n", 20);
  EXPECT_EQ(groups(), "nnnnnnnnnn");
  send("a", 1);
  EXPECT_EQ(groups(1), "a");
  send("d", 1);
  EXPECT_TRUE(rig.remove("q", "a0").has_value());
  again();
  EXPECT_EQ(groups(), "dnnnnnnnnn");
}

TEST_P(Fair, MessagesWithoutAGroupCountAsOne) {
  rig.make("q");
  for (int i = 0; i < 8; ++i) {
    rig.send("q", "-" + std::to_string(i));
  }
  EXPECT_EQ(groups(4), "----");
  send("a", 3);
  again();
  EXPECT_EQ(groups(), "aaa----");
}

TEST_P(Fair, GroupsInOrderGoOnInTheOrderInWhichTheyCame) {
  rig.make("f", {.fifo = true});
  send("a", 4, "f");
  EXPECT_EQ(groups(2, "f"), "aa");
  send("b", 4, "f");
  send("c", 4, "f");
  again();
  EXPECT_EQ(groups(6, "f"), "bbbbcc");
}

TEST_P(Fair, APauseChangesNothing) {
  rig.make("q");
  send("n", 20);
  EXPECT_EQ(groups(), "nnnnnnnnnn");
  rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = true});
  EXPECT_EQ(groups(), "");
  send("a", 2);
  send("b", 2);
  EXPECT_EQ(groups(), "");
  again();
  // Somebody waits when it goes on.
  EXPECT_TRUE(rig.run(rig.asking("q", 6, 60 * second, 20 * second)).handed_out.empty());
  const Ran ran = rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = false});
  ASSERT_EQ(ran.handed_out.size(), 1U);
  std::string all;
  for (const Received::One& one : ran.handed_out[0].messages) {
    all += one.message->body.front();
  }
  EXPECT_EQ(all, "ababnn");
}

/// More groups than a batch reads lanes of, each with more than its window holds.
TEST(FairBounds, LongGroupsAreHandedOutToTheEnd) {
  Limits limits;
  limits.lane_window_max = 4;
  limits.lane_window_min = 4;
  limits.refills_per_batch = 1;
  PullRig rig(limits);
  rig.make("q");
  for (int i = 0; i < 200; ++i) {
    rig.send("q", std::to_string(i), "g" + std::to_string(i % 5));
  }
  std::set<std::string> seen;
  for (int empty = 0; empty < 20;) {
    const Bodies bodies = rig.receive("q", 10, 600 * second);
    empty = bodies.empty() ? empty + 1 : 0;
    seen.insert(bodies.begin(), bodies.end());
  }
  EXPECT_EQ(seen.size(), 200U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
