#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TEST(Advance, IndexesWhatWaitsLongerThanAMoment) {
  Limits limits;
  limits.destination_parallelism = 1;
  Rig rig(limits);
  rig.publish(message_to("http://a"));
  rig.publish(message_to("http://a"));
  EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());

  rig.pass(limits.index_after);
  rig.run();

  EXPECT_EQ(rig.reader.rows<LaneRow>().size(), 2U);
}

TEST(Advance, StartsNoMoreThanItMayInOneBatch) {
  Limits limits;
  limits.starts_per_batch = 2;
  Rig rig(limits);
  const Ran ran =
      rig.run(Rig::publishing(message_to("http://a")), Rig::publishing(message_to("http://a")),
              Rig::publishing(message_to("http://a")));
  EXPECT_EQ(ran.started(), seqs({1, 2}));
  EXPECT_LE(*rig.machine->wake_at(), rig.now);
  EXPECT_EQ(rig.run().started(), seqs({3}));
}

TEST(Advance, PurgesWhatIsOverAndNothingElse) {
  Limits limits;
  limits.retention_finished = Millis{10'000};
  limits.retention_dlq = Millis{60'000};
  limits.expiry_poll = Millis{1000};
  limits.index_after = Millis{10};
  Rig rig(limits);
  Message first = message_to("http://a", {Millis{0}});
  first.dedup_id = "d";
  Ran ran = rig.run(Rig::publishing(first, Millis{20'000}));
  ran = rig.run(Rig::outcome(ran.starts.at(0), false));
  rig.run(Rig::outcome(ran.starts.at(0), true));
  ran = rig.run(Rig::publishing(message_to("http://b")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  Message waiting = message_to("http://c");
  waiting.not_before = rig.now + Millis{200'000};
  rig.publish(waiting);

  const auto after = [&rig](Millis time) {
    for (Millis step{0}; step < time; step += Millis{1000}) {
      rig.pass(Millis{1000});
      rig.run();
    }
  };
  after(Millis{9000});
  EXPECT_EQ(rig.reader.rows<Message>().size(), 3U);
  after(Millis{3000});
  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);  // the delivered one, with its attempts
  EXPECT_TRUE(rig.reader.rows<Attempt>().empty());
  EXPECT_EQ(rig.reader.rows<Dedup>().size(), 1U);
  after(Millis{12'000});
  EXPECT_TRUE(rig.reader.rows<Dedup>().empty());
  EXPECT_EQ(rig.reader.rows<DeadLetterKey>().size(), 1U);
  after(Millis{60'000});
  EXPECT_TRUE(rig.reader.rows<DeadLetterKey>().empty());
  ASSERT_EQ(rig.reader.rows<Message>().size(), 1U);  // what waits is never purged
  EXPECT_EQ(rig.counts().purged, 2U);
  EXPECT_EQ(rig.counts().dead_letters, 0U);
  EXPECT_EQ(rig.counts().failed, 1U);
  EXPECT_TRUE(rig.reader.rows<Expiry>().empty());
}

/// Like Rig::run(), with as many commands as there are.
std::vector<StartAttempt> run_all(Rig& rig, std::vector<Command> commands) {
  rig.machine->begin(rig.now, rig.reader);
  for (Command& command : commands) {
    EXPECT_TRUE(rig.machine->execute(std::move(command)).has_value());
  }
  rig.machine->advance();
  auto output = rig.machine->take();
  for (const Mutation& mutation : output.mutations) {
    rig.reader.apply(mutation);
  }
  std::vector<StartAttempt> starts;
  for (Effect& effect : output.effects) {
    starts.push_back(std::move(std::get<StartAttempt>(effect)));
  }
  return starts;
}

TEST(Advance, APurgeOfManyIsSpreadOverBatches) {
  constexpr std::size_t in_a_record = 600;  // more than a batch may purge
  Limits limits;
  limits.retention_finished = Millis{10'000};
  limits.index_after = Millis{10};
  limits.starts_per_batch = in_a_record;
  limits.destination_parallelism = in_a_record;
  Rig rig(limits);
  for (int record = 0; record < 3; ++record) {
    std::vector<Command> commands;
    for (std::size_t i = 0; i < in_a_record; ++i) {
      commands.emplace_back(Rig::publishing(message_to("http://a")));
    }
    const auto starts = run_all(rig, std::move(commands));
    ASSERT_EQ(starts.size(), in_a_record);
    commands.clear();
    for (const StartAttempt& start : starts) {
      commands.emplace_back(Rig::outcome(start, true));
    }
    run_all(rig, std::move(commands));
  }
  rig.pass(Millis{100});
  rig.run();
  rig.run();
  ASSERT_EQ(rig.reader.rows<Message>().size(), 3 * in_a_record);

  rig.pass(Millis{12'000});
  for (std::size_t left = 2 * in_a_record; left > 0; left -= in_a_record) {
    rig.run();
    EXPECT_EQ(rig.reader.rows<Message>().size(), left);
    EXPECT_LE(*rig.machine->wake_at(), rig.now);  // the rest is not forgotten
  }
  rig.run();
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
  EXPECT_TRUE(rig.reader.rows<Expiry>().empty());
}

TEST(Advance, PurgesEventsOlderThanTheRetention) {
  Limits limits;
  limits.retention_finished = Millis{10'000};
  limits.event_purge_every = Millis{1000};
  Rig rig(limits);
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.run(Rig::outcome(ran.starts.at(0), true));
  ASSERT_FALSE(rig.reader.rows<Events>().empty());
  for (int i = 0; i < 15; ++i) {
    rig.pass(Millis{1000});
    rig.run();
  }
  EXPECT_TRUE(rig.reader.rows<Events>().empty());
}

TEST(Advance, StartsNothingOnceADrainHasBegun) {
  Rig rig;
  rig.machine->stop_starting();
  EXPECT_TRUE(rig.run(Rig::publishing(message_to("http://a"))).starts.empty());
  EXPECT_GT(*rig.machine->wake_at(), rig.now);  // and does not spin
}

TEST(Advance, KeepsMemoryBoundedWhateverTheBacklog) {
  Limits limits;
  limits.lane_window_min = 8;
  limits.lane_window_max = 8;
  limits.destination_parallelism = 1;
  Rig rig(limits);
  for (int i = 0; i < 500; ++i) {
    rig.publish(message_to("http://a"));
    ASSERT_LE(rig.machine->in_memory(), 9U);
  }
  EXPECT_EQ(rig.counts().pending, 500U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
