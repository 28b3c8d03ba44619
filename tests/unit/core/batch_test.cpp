#include "core/batch.h"

#include <gtest/gtest.h>

#include "core/schedule/order.h"
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
  batch.put(Put<MessageState>{Seq{4}, {.attempts = 2}});
  batch.put(Put<Dedup>{{{tenant, "new"}, {{Seq{4}, 9}, now}}});
  batch.erase<Dedup>(tenant, "stored");
  batch.put(Put<DeadLetterKey>{{tenant, now, Seq{4}}});

  EXPECT_NE(batch.get<Message>(Seq{4}), nullptr);
  EXPECT_EQ(batch.get<MessageState>(Seq{4})->attempts, 2U);
  EXPECT_EQ(batch.get<Dedup>({tenant, "new"})->first.seq, Seq{4});
  EXPECT_FALSE(batch.get<Dedup>({tenant, "stored"}).has_value());
  EXPECT_TRUE(batch.get<DeadLetterKey>({tenant, now, Seq{4}}));
}

TEST(Batch, SchedulesOfEarlierCommandsAreSeenByLaterOnes) {
  MemoryReader reader;
  reader.put<Schedule>({.tenant = tenant, .id = "old"});
  reader.rows<ScheduleState>()[{tenant, "old"}] = {.next_at = now};
  reader.put<ScheduleDue>({now, tenant, "old"});
  Batch batch;
  batch.begin(now, 1, reader);
  EXPECT_EQ(batch.get<ScheduleState>({tenant, "old"})->next_at, now);
  EXPECT_TRUE(batch.get<Schedule>({tenant, "old"}).has_value());

  batch.put(Put<Schedule>({.tenant = tenant, .id = "new"}));
  put_schedule_state(batch, tenant, "new", {.next_at = now + Millis{9}}, never);
  put_schedule_state(batch, tenant, "new", {.next_at = now + Millis{5}}, now + Millis{9});
  erase_schedule(batch, tenant, "old", now);

  EXPECT_TRUE(batch.get<Schedule>({tenant, "new"}).has_value());
  EXPECT_EQ(batch.get<ScheduleState>({tenant, "new"})->next_at, now + Millis{5});
  EXPECT_FALSE(batch.get<Schedule>({tenant, "old"}).has_value());
  EXPECT_FALSE(batch.get<ScheduleState>({tenant, "old"}).has_value());

  for (const Mutation& mutation : batch.take().mutations) {
    reader.apply(mutation);
  }
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

  EXPECT_NE(batch.get<Message>(Seq{1}), nullptr);
  EXPECT_EQ(batch.get<MessageState>(Seq{1})->attempts, 7U);
  EXPECT_TRUE(batch.get<DeadLetterKey>({tenant, now, Seq{1}}));
  EXPECT_EQ(batch.get<Message>(Seq{2}), nullptr);
  EXPECT_FALSE(batch.get<Dedup>({tenant, "none"}).has_value());
}

TEST(Batch, WhatWasPurgedInItIsGoneForItsRest) {
  MemoryReader reader;
  reader.put<Message>(message(1));
  reader.rows<MessageState>()[Seq{1}] = {.attempts = 7};
  Batch batch;
  batch.begin(now, 1, reader);

  batch.purge_message(Seq{1}, false);
  batch.erase<DeadLetterKey>(tenant, now, Seq{1});

  EXPECT_EQ(batch.get<Message>(Seq{1}), nullptr);
  EXPECT_FALSE(batch.get<MessageState>(Seq{1}).has_value());
  EXPECT_FALSE(batch.get<DeadLetterKey>({tenant, now, Seq{1}}));
}

TEST(Batch, ForgetsItsViewWhenItIsTaken) {
  MemoryReader reader;
  Batch batch;
  batch.begin(now, 1, reader);
  batch.put_message(message(4));
  batch.put(Put<Dedup>{{{tenant, "new"}, {{Seq{4}, 9}, now}}});

  const auto output = batch.take();
  batch.begin(now, 2, reader);

  EXPECT_EQ(output.mutations.size(), 2U);
  EXPECT_EQ(batch.get<Message>(Seq{4}), nullptr);
  EXPECT_FALSE(batch.get<Dedup>({tenant, "new"}).has_value());
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
