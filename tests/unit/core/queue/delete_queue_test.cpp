#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

const KeyOf<Queue> q{tenant_one, "q"};

Limits tiny() {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  limits.sweeps_per_batch = 3;
  return limits;
}

DeleteQueueCommand deleting(std::string name = "q") { return {tenant_one, std::move(name)}; }

bool busy(const Rig& rig) {
  const auto at = rig.machine->wake_at();
  return at && *at <= rig.now;
}

/// Runs batches until nothing is left to do now; what was started meanwhile.
std::vector<std::uint64_t> settle(Rig& rig) {
  std::vector<std::uint64_t> started;
  for (int i = 0; i < 1000; ++i) {
    for (const std::uint64_t seq : rig.run().started()) {
      started.push_back(seq);
    }
    if (!busy(rig)) {
      return started;
    }
  }
  ADD_FAILURE() << "it never comes to rest";
  return started;
}

Status status_of(const Rig& rig, std::uint64_t seq) {
  const auto found = rig.reader.rows<MessageState>().find(Seq{seq});
  return found == rig.reader.rows<MessageState>().end() ? Status::pending : found->second.status;
}

std::uint64_t lag_of(const Rig& rig, const KeyOf<Queue>& name = q) {
  return rig.reader.rows<Queue>().at(name).lag;
}

TEST(QueueLag, CountsWhatIsNotFinishedAtEveryStep) {
  Rig rig(tiny());
  rig.run(UpsertQueue{tenant_one, "q", {}, {}});
  EXPECT_EQ(lag_of(rig), 0U);
  const Ran ran = rig.run(Rig::publishing(queued("q", "", {Millis{100}})));
  const MessageId second = rig.publish(queued("q"));
  for (int i = 0; i < 4; ++i) {
    rig.publish(queued("q", "g"));
  }
  const MessageId beyond = rig.publish(queued("q"));
  rig.publish(message_to("http://a"));
  EXPECT_EQ(lag_of(rig), 7U);
  rig.restart();
  rig.run();

  struct Row {
    std::string_view name;
    std::uint64_t lag;
    std::function<void()> step;
  };
  std::vector<StartAttempt> running;
  const Row rows[] = {
      {"a refused outcome", 7, [&] { rig.run(Rig::outcome(ran.starts.at(0), true)); }},
      {"cancelled in the window", 6,
       [&] {
         rig.run(CancelMessage{tenant_one, second});
       }},
      {"cancelled beyond it", 5,
       [&] {
         rig.run(CancelMessage{tenant_one, beyond});
       }},
      {"cancelled twice", 5,
       [&] {
         rig.run(CancelMessage{tenant_one, beyond});
       }},
      {"a restart", 5, [&] { rig.restart(); }},
      {"started again", 5, [&] { running = rig.run().starts; }},
      {"failed, to be retried", 5, [&] { rig.run(Rig::outcome(running.at(0), false)); }},
      {"its lease ran out", 4,
       [&] {
         rig.pass(Millis{100});
         rig.run();
         rig.pass(Millis{1100} + rig.limits.lease_grace);
         rig.run();
       }},
      {"another restart", 4, [&] { rig.restart(); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    row.step();
    std::uint64_t unfinished = 0;
    for (const auto& [seq, message] : rig.reader.rows<Message>()) {
      unfinished += !message->queue.empty() && !is_final(status_of(rig, seq.value())) ? 1 : 0;
    }
    EXPECT_EQ(lag_of(rig), unfinished);
    if (row.name != "its lease ran out" && row.name != "another restart") {
      EXPECT_EQ(lag_of(rig), row.lag);
    }
  }
}

TEST(QueueLag, IsWrittenOncePerBatch) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("q")), Rig::publishing(queued("q")),
                          Rig::publishing(queued("q")));

  const auto written = std::count_if(ran.mutations.begin(), ran.mutations.end(), [](const auto& m) {
    return std::holds_alternative<Put<Queue>>(m);
  });
  EXPECT_EQ(written, 1);
  EXPECT_EQ(lag_of(rig), 3U);
}

TEST(DeleteQueue, CancelsMessagesInEveryState) {
  Rig rig(tiny());
  rig.run(UpsertQueue{tenant_one, "q", 2, {}});
  Ran ran = rig.run(Rig::publishing(queued("q", "", {Millis{100}})), Rig::publishing(queued("q")));
  ASSERT_EQ(ran.started(), seqs({1, 2}));
  rig.run(Rig::outcome(ran.starts.at(0), false));  // 1 is between two attempts, 2 runs
  for (int i = 0; i < 7; ++i) {
    rig.publish(queued("q"));  // 3 to 9: in the window and beyond it
  }
  for (int i = 0; i < 5; ++i) {
    rig.publish(queued("q", i % 2 == 0 ? "a" : "b"));  // 10 to 14: 10 and 11 run
  }
  const MessageId other = rig.publish(queued("q2"));

  rig.run(deleting()).only<Done>();
  EXPECT_TRUE(settle(rig).empty());

  for (std::uint64_t seq = 1; seq <= 14; ++seq) {
    SCOPED_TRACE(seq);
    const bool running = seq == 2 || seq == 10 || seq == 11;
    EXPECT_EQ(status_of(rig, seq), running ? Status::pending : Status::canceled);
    EXPECT_TRUE(rig.reader.rows<MessageState>().at(Seq{seq}).cancel_requested);
  }
  EXPECT_EQ(status_of(rig, other.seq.value()), Status::pending);
  EXPECT_EQ(lag_of(rig), 3U);
  EXPECT_TRUE(rig.reader.rows<Queue>().at(q).deleted);
  EXPECT_TRUE(rig.run(Rig::outcome(ran.starts.at(1), false)).starts.empty());
  EXPECT_EQ(status_of(rig, 2), Status::canceled);
  rig.pass(Millis{1100} + rig.limits.lease_grace);
  rig.run();  // nobody reports of 10 and 11
  EXPECT_EQ(status_of(rig, 10), Status::canceled);
  EXPECT_FALSE(rig.reader.rows<Queue>().contains(q));
  EXPECT_TRUE(rig.counts().conserved());
}

TEST(DeleteQueue, DeliversWhatIsOnTheWire) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("q")));
  rig.run(deleting());
  settle(rig);

  rig.run(Rig::outcome(ran.starts.at(0), true));

  EXPECT_EQ(status_of(rig, 1), Status::succeeded);
  EXPECT_TRUE(rig.reader.rows<Queue>().empty());
}

TEST(DeleteQueue, CancelsABoundedNumberPerBatch) {
  Rig rig(tiny());
  rig.run(UpsertQueue{tenant_one, "q", {}, true});
  for (int i = 0; i < 20; ++i) {
    rig.publish(queued("q"));
  }
  rig.run(deleting());
  for (int batch = 0; batch < 40 && rig.reader.rows<Queue>().contains(q); ++batch) {
    const std::uint64_t before = rig.counts().canceled;
    rig.run();
    EXPECT_LE(rig.counts().canceled - before, rig.limits.sweeps_per_batch);
  }

  EXPECT_EQ(rig.counts().canceled, 20U);
  EXPECT_TRUE(rig.reader.rows<Queue>().empty());
  EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());
  settle(rig);
}

TEST(DeleteQueue, GoesOnAfterACrashAtAnyPoint) {
  for (int batches = 0; batches < 12; ++batches) {
    SCOPED_TRACE(batches);
    Rig rig(tiny());
    rig.run(UpsertQueue{tenant_one, "q", {}, true});
    for (int i = 0; i < 10; ++i) {
      rig.publish(queued("q", i % 3 == 0 ? "g" : ""));
    }
    rig.run(UpsertQueue{tenant_one, "q", {}, false}, deleting());
    for (int i = 0; i < batches; ++i) {
      EXPECT_TRUE(rig.run().starts.empty());
    }

    rig.restart();

    EXPECT_TRUE(settle(rig).empty());
    EXPECT_EQ(rig.counts().canceled, 10U);
    EXPECT_TRUE(rig.reader.rows<Queue>().empty());
    EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());
  }
}

TEST(DeleteQueue, ARunningMessageStaysCancelledAfterACrash) {
  Rig rig;
  rig.run(Rig::publishing(queued("q", "", {Millis{0}})));
  rig.run(deleting());
  settle(rig);

  rig.restart();

  EXPECT_TRUE(settle(rig).empty());
  EXPECT_EQ(status_of(rig, 1), Status::canceled);
  EXPECT_TRUE(rig.reader.rows<Queue>().empty());
}

TEST(DeleteQueue, AnEnqueueMeanwhileMakesANewQueueWhoseMessagesStay) {
  for (const bool crash : {false, true}) {
    SCOPED_TRACE(crash);
    Rig rig(tiny());
    rig.run(UpsertQueue{tenant_one, "q", 4, true});
    for (int i = 0; i < 10; ++i) {
      rig.publish(queued("q"));
    }
    rig.run(deleting());
    rig.pass(Millis{1});
    rig.run(Rig::publishing(queued("q")), Rig::publishing(queued("q", "g")));
    const Queue& again = rig.reader.rows<Queue>().at(q);
    EXPECT_FALSE(again.deleted);
    EXPECT_FALSE(again.paused);
    EXPECT_EQ(again.parallelism, 1U);
    EXPECT_EQ(again.created_at, rig.now);
    if (crash) {
      rig.restart();
    }

    std::vector<std::uint64_t> started = settle(rig);
    std::sort(started.begin(), started.end());
    EXPECT_EQ(started, seqs({11, 12}));

    EXPECT_EQ(rig.counts().canceled, 10U);
    EXPECT_EQ(lag_of(rig), 2U);
    EXPECT_EQ(rig.reader.rows<Queue>().at(q).sweep_up_to, Seq{});
  }
}

TEST(DeleteQueue, DeletedTwiceWithMessagesInBetweenCancelsBoth) {
  Rig rig(tiny());
  rig.run(UpsertQueue{tenant_one, "q", {}, true});
  for (int i = 0; i < 8; ++i) {
    rig.publish(queued("q"));
  }
  rig.run(deleting());
  rig.run(UpsertQueue{tenant_one, "q", {}, true});
  rig.publish(queued("q"));
  rig.run(deleting());

  EXPECT_TRUE(settle(rig).empty());

  EXPECT_EQ(rig.counts().canceled, 9U);
  EXPECT_TRUE(rig.reader.rows<Queue>().empty());
}

TEST(DeleteQueue, WhatIsNotThereIsDeleted) {
  Rig rig;
  rig.run(deleting()).only<Done>();
  rig.run(UpsertQueue{tenant_one, "q", {}, {}});
  rig.run(deleting(), deleting());
  EXPECT_FALSE(rig.reader.rows<Queue>().contains(q));
  rig.run(deleting()).only<Done>();
  EXPECT_FALSE(busy(rig));
}

TEST(DeleteQueue, SaysWhyAMessageWaitsForTheSweep) {
  Rig rig(tiny());
  rig.run(UpsertQueue{tenant_one, "q", {}, true});
  for (int i = 0; i < 10; ++i) {
    rig.publish(queued("q"));
  }
  rig.run(deleting());
  const MessageId fresh = rig.publish(queued("q"));

  const auto inspected = rig.run(Inspect{tenant_one, fresh}).only<Inspected>();

  ASSERT_FALSE(inspected.holds.empty());
  EXPECT_EQ(inspected.holds[0].gate, "queue_deleted");
}

TEST(DeleteQueue, ADeadLetterOfItGoesBackToANewQueue) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("q")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  rig.run(deleting());
  settle(rig);
  ASSERT_TRUE(rig.reader.rows<Queue>().empty());

  rig.run(RetryDeadLetter{.tenant = tenant_one, .key = rig.reader.scan<DeadLetterKey>().front()});

  EXPECT_EQ(lag_of(rig), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
