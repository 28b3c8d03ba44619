#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};

Limits small_windows() {
  Limits small;
  small.lane_window_max = 2;
  small.lane_window_min = 2;
  return small;
}

struct Expected {
  std::uint64_t visible = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t delayed = 0;
};

void expect_counts(PullRig& rig, const std::string& queue, Expected expected) {
  const QueueCounted counted = rig.count(queue);
  EXPECT_EQ(counted.visible, expected.visible);
  EXPECT_EQ(counted.in_flight, expected.in_flight);
  EXPECT_EQ(counted.delayed, expected.delayed);
}

struct Count : ::testing::TestWithParam<bool> {
  MessageId send_later(const std::string& body, Millis delay) {
    Publish one = PullRig::sending("q", body);
    one.delay = delay;
    return rig.run(std::move(one)).only<Published>().id;
  }
  void restart_if_asked() {
    if (GetParam()) {
      rig.restart();
    }
  }
  PullRig rig{small_windows()};
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutRestarts, Count, ::testing::Bool());

TEST_P(Count, FollowsMessagesFromDelayToTheEnd) {
  rig.make("q");
  for (const char* body : {"a", "b", "c", "d", "e"}) {
    send_later(body, 2 * second);
  }
  rig.send("q", "now");
  restart_if_asked();
  expect_counts(rig, "q", {.visible = 1, .delayed = 5});
  EXPECT_EQ(rig.receive("q"), (Bodies{"now"}));
  expect_counts(rig, "q", {.in_flight = 1, .delayed = 5});
  rig.pass(2 * second - Millis{1});
  restart_if_asked();
  expect_counts(rig, "q", {.in_flight = 1, .delayed = 5});
  rig.pass(Millis{1});
  expect_counts(rig, "q", {.visible = 5, .in_flight = 1});
  restart_if_asked();
  expect_counts(rig, "q", {.visible = 5, .in_flight = 1});
  EXPECT_TRUE(rig.remove("q", "now").has_value());
  rig.receive("q", 1);
  rig.receive("q", 1);
  expect_counts(rig, "q", {.visible = 3, .in_flight = 2});
}

TEST_P(Count, TellsDelaysApartByTheMillisecond) {
  rig.make("q");
  for (const int ms : {1, 2, 3, 999, 1000, 1001, 5000}) {
    send_later(std::to_string(ms), Millis{ms});
  }
  const struct {
    int at;
    std::uint64_t delayed;
  } rows[] = {{0, 7},    {1, 6},    {3, 4},    {998, 4}, {999, 3},
              {1000, 2}, {1001, 1}, {4999, 1}, {5000, 0}};
  Millis passed{0};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at);
    rig.pass(Millis{row.at} - passed);
    passed = Millis{row.at};
    restart_if_asked();
    expect_counts(rig, "q", {.visible = 7 - row.delayed, .delayed = row.delayed});
  }
}

TEST_P(Count, ForgetsWhatEndsBeforeItIsDue) {
  rig.make("q", {.retention = 100 * second});
  std::vector<MessageId> ids;
  for (const char* body : {"a", "b", "c", "d"}) {
    ids.push_back(send_later(body, 5 * second));
  }
  rig.pass(second);
  rig.run();
  restart_if_asked();
  rig.run(CancelMessage{tenant_one, ids.front()});  // in the window
  rig.run(CancelMessage{tenant_one, ids.back()});   // beyond it
  expect_counts(rig, "q", {.delayed = 2});
  restart_if_asked();
  expect_counts(rig, "q", {.delayed = 2});
  rig.run(PurgeQueue{tenant_one, "q"});
  rig.run();
  rig.run();
  restart_if_asked();
  expect_counts(rig, "q", {});
  EXPECT_EQ(rig.counts().canceled, 4U);
}

TEST_P(Count, AGroupBehindWhatIsOutIsVisible) {
  rig.make("f", {.fifo = true});
  for (const char* body : {"a1", "a2", "a3", "a4"}) {
    rig.send("f", body, "g");
  }
  rig.receive("f", 1);
  restart_if_asked();
  expect_counts(rig, "f", {.visible = 3, .in_flight = 1});
}

TEST_P(Count, NothingIsStoredOfWhatIsDue) {
  rig.make("q");
  send_later("a", 2 * second);
  EXPECT_EQ(rig.reader.rows<DelayedSecond>().size(), 1U);
  restart_if_asked();
  rig.pass(4 * second);
  rig.run();
  EXPECT_TRUE(rig.reader.rows<DelayedSecond>().empty());
}

TEST_P(Count, ALongDelayEndsOnAWholeSecond) {
  rig.make("q");
  rig.pass(Millis{1});
  send_later("a", 901 * second);
  restart_if_asked();
  rig.pass(902 * second - Millis{2});
  expect_counts(rig, "q", {.delayed = 1});
  rig.pass(Millis{1});
  EXPECT_EQ(rig.receive("q"), (Bodies{"a"}));
}

TEST_P(Count, TheOldestIsWhoWaitsLongest) {
  rig.make("q");
  EXPECT_EQ(rig.count("q").oldest, Moment{});
  const Moment first = rig.now;
  rig.send("q", "a");
  rig.pass(second);
  rig.send("q", "b");
  restart_if_asked();
  EXPECT_EQ(rig.count("q").oldest, first);
  rig.receive("q", 1);
  EXPECT_EQ(rig.count("q").oldest, first);
  rig.remove("q", "a");
  EXPECT_EQ(rig.count("q").oldest, first + second);
  rig.receive("q", 1);
  rig.remove("q", "b");
  EXPECT_EQ(rig.count("q").oldest, Moment{});
}

TEST(PurgeOfDelayed, AlsoTakesWhatIsDueAfterANewerMessage) {
  PullRig rig;
  rig.make("q");
  Publish late = PullRig::sending("q", "late");
  late.delay = 100 * second;
  rig.run(std::move(late));
  rig.run(PurgeQueue{tenant_one, "q"}, PullRig::sending("q", "new"));
  rig.pass(second);
  rig.run();
  rig.run();
  rig.run();
  EXPECT_EQ(rig.counts().canceled, 1U);
  rig.pass(100 * second);
  EXPECT_EQ(rig.receive("q"), (Bodies{"new"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
