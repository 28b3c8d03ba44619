#include "core/batch.h"

#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core {
namespace HK_TEST_FILE {

using testing::MemoryReader;

const TenantId tenant{1};
const Moment now = moment_from_ms(5000);

std::shared_ptr<const Message> message(std::uint64_t seq) {
  auto made = std::make_shared<Message>();
  made->id = {Seq{seq}, 9};
  return made;
}

TEST(Batch, LaterReadsSeeEarlierDecisions) {
  MemoryReader reader;
  reader.rows<Dedup>()[{tenant, "stored"}] = {{Seq{1}, 1}, now};
  Batch batch;
  batch.begin(now, 1, reader);

  batch.put_message(message(4));
  batch.put_state(Seq{4}, {.attempts = 2});
  batch.put_dedup(tenant, "new", {{Seq{4}, 9}, now});
  batch.delete_dedup(tenant, "stored");
  batch.put_dead_letter({tenant, now, Seq{4}});

  EXPECT_NE(batch.message(Seq{4}), nullptr);
  EXPECT_EQ(batch.state(Seq{4})->attempts, 2U);
  EXPECT_EQ(batch.dedup(tenant, "new")->first.seq, Seq{4});
  EXPECT_FALSE(batch.dedup(tenant, "stored").has_value());
  EXPECT_TRUE(batch.has_dead_letter({tenant, now, Seq{4}}));
}

TEST(Batch, SchedulesOfEarlierCommandsAreSeenByLaterOnes) {
  MemoryReader reader;
  reader.put<Schedule>({.tenant = tenant, .id = "old"});
  reader.rows<ScheduleState>()[{tenant, "old"}] = {.next_at = now};
  reader.put<ScheduleDue>({now, tenant, "old"});
  Batch batch;
  batch.begin(now, 1, reader);
  EXPECT_EQ(batch.schedule_state(tenant, "old")->next_at, now);
  EXPECT_TRUE(batch.schedule(tenant, "old").has_value());
  EXPECT_EQ(batch.earliest_run(), never);

  batch.put_schedule({.tenant = tenant, .id = "new"});
  batch.put_schedule_state(tenant, "new", {.next_at = now + Millis{9}}, never);
  batch.put_schedule_state(tenant, "new", {.next_at = now + Millis{5}}, now + Millis{9});
  batch.delete_schedule(tenant, "old", now);

  EXPECT_TRUE(batch.schedule(tenant, "new").has_value());
  EXPECT_EQ(batch.schedule_state(tenant, "new")->next_at, now + Millis{5});
  EXPECT_EQ(batch.earliest_run(), now + Millis{5});
  EXPECT_FALSE(batch.schedule(tenant, "old").has_value());
  EXPECT_FALSE(batch.schedule_state(tenant, "old").has_value());

  for (const Mutation& mutation : batch.take().mutations) {
    reader.apply(mutation);
  }
  batch.begin(now, 2, reader);
  EXPECT_EQ(batch.earliest_run(), never);
  EXPECT_EQ(reader.scan<ScheduleDue>(),
            (std::vector<ScheduleDue>{{now + Millis{5}, tenant, "new"}}));
}

TEST(Batch, ReadsWhatIsStoredWhereNothingWasDecided) {
  MemoryReader reader;
  reader.put<Message>(message(1));
  reader.rows<MessageState>()[Seq{1}] = {.attempts = 7};
  reader.put<DeadLetterKey>({tenant, now, Seq{1}});
  Batch batch;
  batch.begin(now, 1, reader);

  EXPECT_NE(batch.message(Seq{1}), nullptr);
  EXPECT_EQ(batch.state(Seq{1})->attempts, 7U);
  EXPECT_TRUE(batch.has_dead_letter({tenant, now, Seq{1}}));
  EXPECT_EQ(batch.message(Seq{2}), nullptr);
  EXPECT_FALSE(batch.dedup(tenant, "none").has_value());
}

TEST(Batch, WhatWasPurgedInItIsGoneForItsRest) {
  MemoryReader reader;
  reader.put<Message>(message(1));
  reader.rows<MessageState>()[Seq{1}] = {.attempts = 7};
  Batch batch;
  batch.begin(now, 1, reader);

  batch.purge_message(Seq{1}, false);
  batch.delete_dead_letter({tenant, now, Seq{1}});

  EXPECT_EQ(batch.message(Seq{1}), nullptr);
  EXPECT_FALSE(batch.state(Seq{1}).has_value());
  EXPECT_FALSE(batch.has_dead_letter({tenant, now, Seq{1}}));
}

TEST(Batch, ForgetsItsViewWhenItIsTaken) {
  MemoryReader reader;
  Batch batch;
  batch.begin(now, 1, reader);
  batch.put_message(message(4));
  batch.put_dedup(tenant, "new", {{Seq{4}, 9}, now});

  const auto output = batch.take();
  batch.begin(now, 2, reader);

  EXPECT_EQ(output.mutations.size(), 2U);
  EXPECT_EQ(batch.message(Seq{4}), nullptr);
  EXPECT_FALSE(batch.dedup(tenant, "new").has_value());
  EXPECT_TRUE(batch.take().mutations.empty());
}

TEST(Batch, GathersEventsPerTenantAndExpiriesPerSecond) {
  MemoryReader reader;
  Batch batch;
  batch.begin(now, 3, reader);

  batch.event(tenant, Seq{1}, EventKind::created);
  batch.event(TenantId{2}, Seq{2}, EventKind::created);
  batch.event(tenant, Seq{1}, EventKind::active, 1);
  batch.expire_message(moment_from_ms(10'001), Seq{1});
  batch.expire_message(moment_from_ms(10'999), Seq{2});
  batch.expire_dedup(moment_from_ms(11'000), tenant, "d");
  batch.expire_message(moment_from_ms(11'001), Seq{3});
  for (const Mutation& mutation : batch.take().mutations) {
    reader.apply(mutation);
  }

  ASSERT_EQ(reader.rows<Events>().size(), 2U);
  EXPECT_EQ(reader.rows<Events>().begin()->second.events.size(), 2U);
  EXPECT_EQ(reader.rows<Events>().begin()->second.time, now);
  EXPECT_EQ(reader.rows<Events>().begin()->second.batch, 3U);
  ASSERT_EQ(reader.rows<Expiry>().size(), 2U);  // never early: rounded up to whole seconds
  const Expiry& first = reader.rows<Expiry>().begin()->second;
  EXPECT_EQ(to_ms(first.at), 11'000);
  EXPECT_EQ(first.messages.size(), 2U);
  EXPECT_EQ(first.dedups.size(), 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
