// Changes of a queue's settings and the messages that it has.
#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

constexpr Millis second{1000};
constexpr Millis hour{3'600'000};

void change(PullRig& rig, const std::string& queue, auto&& how) {
  PullSettings settings = *rig.reader.get<Queue>({tenant_one, queue})->pull;
  how(settings);
  rig.run(SetPullSettings{tenant_one, queue, settings});
}

void settle(PullRig& rig) {
  for (int i = 0; i < 20; ++i) {
    rig.pass(Millis{100});
    rig.run();
  }
}

/// Windows of two, so that most messages are in the index alone.
Limits narrow() {
  Limits limits;
  limits.lane_window_max = 2;
  limits.lane_window_min = 2;
  limits.sweeps_per_batch = 2;
  return limits;
}

TEST(Retime, AShorterRetentionEndsWhatTheQueueHasAlready) {
  PullRig rig(narrow());
  rig.make("q", {.visibility = hour, .retention = hour});
  for (const char* body : {"a", "b", "c", "d", "e"}) {
    rig.send("q", body);
  }
  Publish later = PullRig::sending("q", "delayed");
  later.delay = hour / 2;
  rig.run(std::move(later));
  rig.receive("q", 1);
  rig.pass(61 * second);

  change(rig, "q", [](PullSettings& settings) { settings.retention = 60 * second; });
  settle(rig);

  const QueueCounted left = rig.count("q");
  EXPECT_EQ(left.visible + left.in_flight + left.delayed, 0U);
  EXPECT_EQ(rig.counts().canceled, 6U);
}

TEST(Retime, AShorterRetentionIsKeptWithoutFurtherChanges) {
  PullRig rig(narrow());
  rig.make("q", {.retention = hour});
  for (const char* body : {"a", "b", "c", "d", "e"}) {
    rig.send("q", body);
  }
  change(rig, "q", [](PullSettings& settings) { settings.retention = 60 * second; });
  settle(rig);
  EXPECT_EQ(rig.count("q").visible, 5U);

  rig.pass(61 * second);
  settle(rig);

  EXPECT_EQ(rig.count("q").visible, 0U);
}

TEST(Retime, ItGoesOnAfterARestart) {
  PullRig rig(narrow());
  rig.make("q", {.retention = hour});
  for (const char* body : {"a", "b", "c", "d", "e", "f"}) {
    rig.send("q", body);
  }
  rig.pass(61 * second);
  change(rig, "q", [](PullSettings& settings) { settings.retention = 60 * second; });
  rig.restart();
  settle(rig);

  EXPECT_EQ(rig.count("q").visible, 0U);
  EXPECT_EQ(rig.reader.get<Queue>({tenant_one, "q"})->retime_up_to, Seq{});
}

TEST(Retime, WhoWaitsInAFifoQueueGetsItsNewDelay) {
  PullRig rig(narrow());
  rig.make("q", {.fifo = true, .delay = 900 * second});
  for (const char* body : {"1", "2", "3", "4", "5"}) {
    rig.send("q", body, "g");
  }
  EXPECT_EQ(rig.count("q").delayed, 5U);

  change(rig, "q", [](PullSettings& settings) { settings.delay = Millis{0}; });
  settle(rig);

  EXPECT_EQ(rig.count("q").delayed, 0U);
  EXPECT_EQ(rig.count("q").visible, 5U);
  Bodies got;
  for (int i = 0; i < 5; ++i) {
    for (const std::string& body : rig.receive("q", 1)) {
      got.push_back(body);
      EXPECT_TRUE(rig.remove("q", body).has_value());
    }
    rig.run();
  }
  EXPECT_EQ(got, (Bodies{"1", "2", "3", "4", "5"}));
}

TEST(Retime, ALongerDelayHoldsWhoWaitsAndNobodyElse) {
  PullRig rig(narrow());
  rig.make("q", {.fifo = true, .delay = 10 * second});
  rig.send("q", "due", "a");
  rig.pass(11 * second);
  for (const char* body : {"1", "2", "3", "4"}) {
    rig.send("q", body, "b");
  }
  change(rig, "q", [](PullSettings& settings) { settings.delay = 100 * second; });
  settle(rig);
  rig.pass(20 * second);

  EXPECT_EQ(rig.receive("q"), (Bodies{"due"}));
  EXPECT_TRUE(rig.remove("q", "due").has_value());
  EXPECT_EQ(rig.count("q").delayed, 4U);
  rig.pass(80 * second);
  EXPECT_EQ(rig.receive("q", 1), (Bodies{"1"}));
}

TEST(Retime, PassesByWhatIsBeingPurged) {
  PullRig rig(narrow());
  for (const char* queue : {"first", "q"}) {
    rig.make(queue, {.fifo = true, .delay = 600 * second});
    for (const char* body : {"a", "b", "c", "d", "e"}) {
      rig.send(queue, body, "g");
    }
  }
  change(rig, "q", [](PullSettings& settings) { settings.delay = 300 * second; });
  // The other one is swept first: meanwhile all of this one is met by the walk.
  rig.run(PurgeQueue{tenant_one, "first"}, PurgeQueue{tenant_one, "q"});
  settle(rig);
  rig.send("q", "later", "g");

  const QueueCounted left = rig.count("q");
  EXPECT_EQ(left.delayed, 1U);
  EXPECT_EQ(left.visible + left.in_flight, 0U);
}

TEST(Retime, TheDelayOfAStandardQueueConcernsLaterMessagesOnly) {
  PullRig rig;
  rig.make("q", {.delay = 900 * second});
  rig.send("q", "a");
  change(rig, "q", [](PullSettings& settings) { settings.delay = Millis{0}; });
  settle(rig);

  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.count("q").delayed, 1U);
}

TEST(DedupScope, IdsOfTheOldScopeStayGoodInIt) {
  PullRig rig;
  rig.make("q", {.fifo = true});
  const auto send = [&](const char* group, const char* id) {
    Publish publish = PullRig::sending("q", "x", group);
    publish.message->dedup_id = id;
    publish.dedup_window = 300 * second;
    return rig.run(std::move(publish)).only<Published>().deduplicated;
  };
  EXPECT_FALSE(send("a", "old"));
  change(rig, "q", [](PullSettings& settings) { settings.dedup_by_group = true; });

  EXPECT_TRUE(send("a", "old"));
  EXPECT_TRUE(send("b", "old"));
  EXPECT_FALSE(send("a", "new"));
  EXPECT_FALSE(send("b", "new"));
  EXPECT_TRUE(send("b", "new"));
  rig.pass(301 * second);
  EXPECT_FALSE(send("b", "old"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
