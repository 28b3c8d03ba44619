#include <gtest/gtest.h>

#include "store/codec.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

const core::TenantId tenant{5};

core::Schedule sample(std::string id) {
  core::Schedule schedule{.tenant = tenant, .id = std::move(id), .cron = "CRON_TZ=UTC 0 4 * * *"};
  schedule.prototype = samples::message();
  schedule.prototype.id = {};
  schedule.prototype.schedule = schedule.id;
  schedule.delay = Millis{77};
  schedule.flow = core::FlowKey{.tenant = tenant,
                                .key = schedule.prototype.flow_key,
                                .parallelism = 2,
                                .rate = 3,
                                .period = Millis{4000}};
  schedule.created_at = moment_from_ms(123);
  return schedule;
}

void write(SimStore& store, const std::vector<core::Mutation>& mutations) {
  std::vector<Write> batch;
  for (const core::Mutation& mutation : mutations) {
    encode(mutation, batch);
  }
  ASSERT_TRUE(store.write(batch).has_value());
}

TEST(ScheduleRecords, ComeBackAsTheyWere) {
  SimStore store;
  const core::ScheduleState state{.paused = true,
                                  .next_at = moment_from_ms(9000),
                                  .last_at = moment_from_ms(8000),
                                  .last_messages = {{core::Seq{1}, 2}, {core::Seq{3}, 4}},
                                  .error = "why"};
  write(store, samples::decided([&](core::Batch& batch) {
          batch.put(core::Put<core::Schedule>(sample("a")));
          core::put_schedule_state(batch, tenant, "a", state, never);
          batch.put(core::Put<core::Schedule>(sample("b")));
          core::put_schedule_state(batch, tenant, "b", {}, never);
        }));
  TypedReader reader(store.snapshot());

  EXPECT_EQ(reader.get<core::Schedule>({tenant, "a"}), sample("a"));
  EXPECT_EQ(reader.get<core::ScheduleState>({tenant, "a"}), state);
  EXPECT_EQ(reader.get<core::ScheduleState>({tenant, "b"}), core::ScheduleState{});
  EXPECT_FALSE(reader.get<core::Schedule>({tenant, "c"}).has_value());
  EXPECT_FALSE(reader.get<core::Schedule>({core::TenantId{6}, "a"}).has_value());
  const auto all = core::Range<core::Schedule>::of(tenant);
  EXPECT_EQ(reader.scan(all), (std::vector{sample("a"), sample("b")}));
  EXPECT_EQ(reader.scan(core::Range(all).after(tenant, "a")), std::vector{sample("b")});
}

TEST(ScheduleRecords, StandInTheOrderOfTheirRuns) {
  SimStore store;
  const auto at = [](std::int64_t ms) {
    return core::ScheduleState{.next_at = moment_from_ms(ms)};
  };
  write(store, samples::decided([&](core::Batch& batch) {
          core::put_schedule_state(batch, tenant, "late", at(900), never);
          core::put_schedule_state(batch, tenant, "soon", at(100), never);
          core::put_schedule_state(batch, tenant, "never", {}, never);
          core::put_schedule_state(batch, tenant, "moved", at(200), never);
          core::put_schedule_state(batch, tenant, "moved", at(300), moment_from_ms(200));
          core::put_schedule_state(batch, tenant, "kept", at(400), never);
          core::put_schedule_state(batch, tenant, "kept", at(400), moment_from_ms(400));
          core::put_schedule_state(batch, tenant, "gone", at(500), never);
          core::erase_schedule(batch, tenant, "gone", moment_from_ms(500));
        }));
  TypedReader reader(store.snapshot());

  EXPECT_EQ(reader.scan<core::ScheduleDue>(),
            (std::vector<core::ScheduleDue>{{moment_from_ms(100), tenant, "soon"},
                                            {moment_from_ms(300), tenant, "moved"},
                                            {moment_from_ms(400), tenant, "kept"},
                                            {moment_from_ms(900), tenant, "late"}}));
  EXPECT_EQ(reader.scan<core::ScheduleDue>({}, 1).size(), 1U);
  EXPECT_FALSE(reader.get<core::ScheduleState>({tenant, "gone"}).has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
