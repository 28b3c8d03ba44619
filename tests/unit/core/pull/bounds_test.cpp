/// What one tenant's queue does to itself and to others is bounded in each batch.
#include <gtest/gtest.h>

#include "unit/core/pull/pull_rig.h"

namespace hk::core {
namespace HK_TEST_FILE {

using testing::Bodies;
using testing::PullRig;
using testing::Ran;
using testing::tenant_one;

PullSettings with_dead_letters(const std::string& queue) {
  PullSettings settings;
  settings.visibility = Millis{1000};
  settings.receives_max = 1;
  settings.dead_letters_to = queue;
  return settings;
}

Limits few_moves() {
  Limits limits;
  limits.moves_per_batch = 3;
  return limits;
}

TEST(PullBounds, OneReceiveMovesNoMoreThanABatchMayMove) {
  PullRig rig(few_moves());
  rig.make("dead");
  rig.make("q", with_dead_letters("dead"));
  for (int i = 0; i < 10; ++i) {
    rig.send("q", "m" + std::to_string(i));
  }
  EXPECT_EQ(rig.receive("q").size(), 10U);
  rig.send("q", "fresh");
  rig.pass(Millis{2000});

  const Ran first = rig.run(rig.asking("q", 10, {}, Millis{60'000}));
  EXPECT_TRUE(first.handed_out.empty()) << "it waits behind those that are moved";
  EXPECT_EQ(rig.count("dead").visible, 3U);  // and three more in the batch of this question
  EXPECT_LE(*rig.machine->wake_at(), rig.now) << "the next batch comes at once";
  rig.run();
  const Ran last = rig.run();
  EXPECT_EQ(rig.take(last), Bodies{"fresh"});
  EXPECT_EQ(rig.count("dead").visible, 10U);
}

TEST(PullBounds, AReceiveThatDoesNotWaitIsAnsweredThoughMoreAreToBeMoved) {
  PullRig rig(few_moves());
  rig.make("dead");
  rig.make("q", with_dead_letters("dead"));
  for (int i = 0; i < 4; ++i) {
    rig.send("q", "m" + std::to_string(i));
  }
  EXPECT_EQ(rig.receive("q").size(), 4U);
  rig.pass(Millis{2000});
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.receive("q"), Bodies{});
  EXPECT_EQ(rig.count("dead").visible, 4U);
}

TEST(PullBounds, DeadLettersThatAreTooOldForTheirQueueDoNotHoldUpTheRetentionOfOthers) {
  PullRig rig;
  PullSettings brief;
  brief.retention = Millis{60'000};
  rig.make("dead", brief);
  rig.make("q", with_dead_letters("dead"));
  rig.make("other", brief);
  for (int i = 0; i < 100; ++i) {
    rig.send("q", "m" + std::to_string(i));
  }
  rig.pass(Millis{3000});
  rig.send("other", "old");
  rig.pass(Millis{57'500});
  // Each makes a dead letter of the one before, which was sent more than a minute ago.
  for (int i = 0; i < 90; ++i) {
    rig.pass(Millis{100});
    EXPECT_EQ(rig.receive("q", 1, Millis{1}).size(), 1U);
  }
  EXPECT_EQ(rig.reader.rows<Queue>().at({tenant_one, "other"}).lag, 0U);
}

/// A queue with 100 messages, of which a batch may look at two, and "b" with one.
struct LargeBesideSmall : PullRig {
  LargeBesideSmall() : PullRig(two_at_once()) {
    make("a-large-one");
    make("b");
    for (int i = 0; i < 100; ++i) {
      send("a-large-one", "m");
    }
    send("b", "old");
  }
  static Limits two_at_once() {
    Limits limits;
    limits.sweeps_per_batch = 2;
    return limits;
  }
  [[nodiscard]] std::uint64_t lag(const std::string& queue) const {
    return reader.rows<Queue>().at({tenant_one, queue}).lag;
  }
};

TEST(PullBounds, ALargePurgeKeepsNoOtherQueueShut) {
  LargeBesideSmall rig;
  rig.run(PurgeQueue{tenant_one, "a-large-one"}, PurgeQueue{tenant_one, "b"});
  rig.send("b", "new");
  rig.run();
  EXPECT_EQ(rig.receive("b"), Bodies{"new"});
  EXPECT_GT(rig.lag("a-large-one"), 50U);
  for (int i = 0; i < 100; ++i) {
    rig.run();
  }
  EXPECT_EQ(rig.lag("a-large-one"), 0U);
}

TEST(PullBounds, ABatchHandsOutNoMoreThanItMayHold) {
  Limits limits;
  limits.batch_bytes = 250;
  PullRig rig(limits);
  rig.make("q");
  rig.run(rig.asking("q", 10, {}, Millis{60'000}), rig.asking("q", 10, {}, Millis{60'000}),
          rig.asking("q", 10, {}, Millis{60'000}));
  rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = true});
  for (int i = 0; i < 8; ++i) {
    rig.send("q", std::string(100, static_cast<char>('a' + i)));
  }
  std::vector<std::size_t> handed;
  Ran ran = rig.run(UpsertQueue{.tenant = tenant_one, .name = "q", .paused = false});
  for (; !ran.handed_out.empty(); ran = rig.run()) {
    EXPECT_EQ(ran.handed_out.size(), 1U);
    handed.push_back(ran.handed_out.front().messages.size());
  }
  EXPECT_EQ(handed, (std::vector<std::size_t>{3, 3, 2}));
}

TEST(PullBounds, NothingIsLeftInMemoryOfQueuesThatAreGone) {
  PullRig rig;
  for (int round = 0; round < 3; ++round) {
    for (const char* const name : {"empty", "waiting", "out", "asked", "fifo.fifo"}) {
      PullSettings settings;
      settings.fifo = name == std::string("fifo.fifo");
      rig.make(name, settings);
    }
    rig.send("waiting", "w");
    rig.send("out", "o");
    EXPECT_EQ(rig.receive("out"), Bodies{"o"});
    rig.send("fifo.fifo", "f1", "g");
    rig.send("fifo.fifo", "f2", "h");
    EXPECT_EQ(rig.receive("fifo.fifo", 1).size(), 1U);
    rig.run(rig.asking("asked", 1, {}, Millis{60'000}));
    if (round == 1) {
      rig.restart();
    }
    EXPECT_GE(rig.machine->pull_queues(), 3U);
    for (const char* const name : {"empty", "waiting", "out", "asked", "fifo.fifo"}) {
      rig.run(DeleteQueueCommand{tenant_one, name});
    }
    rig.pass(Millis{60'000});
    EXPECT_EQ(rig.machine->pull_queues(), 0U);
    EXPECT_EQ(rig.machine->lanes(), 0U);
  }
}

TEST(PullBounds, ALargeQueueThatWasChangedHoldsUpNoOther) {
  LargeBesideSmall rig;
  rig.pass(Millis{90'000});
  for (const std::string name : {"a-large-one", "b"}) {
    PullSettings brief = *rig.reader.rows<Queue>().at({tenant_one, name}).pull;
    brief.retention = Millis{60'000};
    rig.run(SetPullSettings{tenant_one, name, brief});
  }
  rig.run();
  rig.run();
  EXPECT_EQ(rig.lag("b"), 0U);
  EXPECT_GT(rig.lag("a-large-one"), 50U);
  for (int i = 0; i < 100; ++i) {
    rig.run();
  }
  EXPECT_EQ(rig.lag("a-large-one"), 0U);
}

UpsertQueue pausing(const std::string& queue, bool paused) {
  return {.tenant = tenant_one, .name = queue, .paused = paused};
}

TEST(PausedPullQueue, HandsOutNothingThatWasReceivedBefore) {
  for (const bool fifo : {false, true}) {
    SCOPED_TRACE(fifo);
    PullRig rig;
    PullSettings settings;
    settings.fifo = fifo;
    rig.make("q", settings);
    rig.send("q", "a", fifo ? "g" : "");
    EXPECT_EQ(rig.receive("q", 10, Millis{1000}), Bodies{"a"});
    rig.run(pausing("q", true));
    rig.pass(Millis{2000});
    EXPECT_EQ(rig.receive("q"), Bodies{});
    rig.restart();
    EXPECT_EQ(rig.receive("q"), Bodies{});
    rig.run(pausing("q", false));
    EXPECT_EQ(rig.receive("q"), Bodies{"a"});
    EXPECT_TRUE(rig.remove("q", "a").has_value());
  }
}

TEST(PausedPullQueue, AMoveWaitsUntilItIsResumed) {
  PullRig rig;
  rig.make("dead");
  rig.make("q");
  rig.send("dead", "a");
  rig.run(pausing("dead", true));
  rig.run(StartMoveTask{.tenant = tenant_one, .source = "dead", .destination = "q"});
  rig.run();
  EXPECT_EQ(rig.count("q").visible, 0U);
  EXPECT_GT(*rig.machine->wake_at(), rig.now) << "it does not spin meanwhile";
  rig.run(pausing("dead", false));
  rig.run();
  EXPECT_EQ(rig.count("q").visible, 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
