#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace {

bool held_by(const Inspected& inspected, std::string_view gate) {
  return std::ranges::any_of(inspected.holds, [&](const Hold& hold) { return hold.gate == gate; });
}

TEST(Inspect, TellsOfTheLease) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));

  const auto inspected = rig.run(Inspect{tenant_one, ran.starts.at(0).id}).only<Inspected>();

  EXPECT_TRUE(inspected.running);
  EXPECT_EQ(inspected.fence, ran.starts[0].fence);
  EXPECT_EQ(inspected.lease_until, ran.starts[0].lease_until);
}

TEST(Inspect, NamesWhateverHoldsAMessage) {
  Limits limits;
  limits.destination_parallelism = 1;
  Rig rig(limits);
  Message later = message_to("http://later");
  later.not_before = rig.now + Millis{500};
  const MessageId delayed = rig.publish(later);
  rig.publish(message_to("http://a"));
  const MessageId second = rig.publish(message_to("http://a"));
  rig.run(UpsertQueue{tenant_one, "paused", {}, true});
  const MessageId paused = rig.publish(queued("paused"));
  rig.publish(queued("q"));
  const MessageId behind = rig.publish(queued("q"));
  rig.run(SetFlowKeyPaused{tenant_one, "f", true});
  Message flowing = message_to("http://b");
  flowing.flow_key = "f";
  const MessageId pinned = rig.publish(flowing);

  struct Row {
    std::string_view gate;
    MessageId id;
  };
  const Row rows[] = {
      {"delay", delayed}, {"destination_parallelism", second}, {"queue_paused", paused},
      {"order", behind},  {"flow_control_paused", pinned},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.gate);
    const auto inspected = rig.run(Inspect{tenant_one, row.id}).only<Inspected>();
    EXPECT_FALSE(inspected.running);
    EXPECT_TRUE(held_by(inspected, row.gate));
  }
}

TEST(Inspect, NamesTheDestinationOfAQueuedMessageAlsoBeyondTheWindow) {
  Limits limits;
  limits.destination_parallelism = 1;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  Rig rig(limits);
  rig.publish(message_to("http://a.example:80"));
  const MessageId head = rig.publish(queued("q"));
  rig.publish(queued("q"));
  const MessageId beyond = rig.publish(queued("q"));
  ASSERT_EQ(rig.machine->in_memory(), 3U);

  for (const MessageId id : {head, beyond}) {
    const auto inspected = rig.run(Inspect{tenant_one, id}).only<Inspected>();
    EXPECT_TRUE(held_by(inspected, "destination_parallelism"));
  }
}

TEST(Inspect, OfAnotherTenantsMessageFindsNothing) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  const MessageId id = rig.publish(message_to("http://a"));

  EXPECT_FALSE(rig.run(Inspect{TenantId{2}, id}).replies.at(0).has_value());
}

}  // namespace
}  // namespace hk::core::testing
