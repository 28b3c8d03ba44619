#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

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

TEST(Inspect, NamesLimitsAndSharesThatHoldAMessage) {
  struct Row {
    std::string_view gate;
    Limits limits;
    int running;          ///< attempts of the same tenant, each to a host of its own
    std::string_view to;  ///< "http://0" is one of those
  };
  Limits tenant;
  tenant.tenant_parallelism = 2;
  tenant.share = 100;
  Limits global;
  global.global_parallelism = 2;
  global.share = 100;
  Limits shares;  // nobody may hold more than what is left
  shares.share = 1;
  shares.tenant_parallelism = 2;
  Limits tenant_share;
  tenant_share.share = 1;
  tenant_share.global_parallelism = 4;
  const Row rows[] = {{"tenant_parallelism", tenant, 2, "http://other"},
                      {"global_parallelism", global, 2, "http://other"},
                      {"destination_share", shares, 1, "http://0"},
                      {"tenant_share", tenant_share, 2, "http://other"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.gate);
    Rig rig(row.limits);
    for (int i = 0; i < row.running; ++i) {
      const Ran ran = rig.run(Rig::publishing(message_to("http://" + std::to_string(i))));
      ASSERT_EQ(ran.starts.size(), 1U);
    }
    const Ran ran = rig.run(Rig::publishing(message_to(std::string(row.to))));
    ASSERT_TRUE(ran.starts.empty());

    const auto inspected = rig.run(Inspect{tenant_one, ran.only<Published>().id}).only<Inspected>();

    EXPECT_FALSE(inspected.running);
    ASSERT_EQ(inspected.holds.size(), 1U);
    EXPECT_EQ(inspected.holds[0].gate, row.gate);
  }
}

TEST(Inspect, SaysWhenARetryIsDueAndAPeriodEnds) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{100}})));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  rig.run(PinFlowKey{tenant_one, "f", {}, 1, Millis{5000}});
  const Moment period = rig.now;
  Message flowing = message_to("http://b");
  flowing.flow_key = "f";
  rig.publish(flowing);
  const MessageId second = rig.publish(flowing);

  const auto retried = rig.run(Inspect{tenant_one, ran.starts[0].id}).only<Inspected>();
  const auto limited = rig.run(Inspect{tenant_one, second}).only<Inspected>();

  ASSERT_TRUE(held_by(retried, "retry"));
  EXPECT_EQ(retried.holds.at(0).opens_at, rig.now + Millis{100});
  ASSERT_TRUE(held_by(limited, "flow_control_rate"));
  EXPECT_EQ(limited.holds.at(0).opens_at, period + Millis{5000});
}

TEST(Inspect, OfWhatHasEndedNamesNothing) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.run(Rig::outcome(ran.starts.at(0), true));

  const auto inspected = rig.run(Inspect{tenant_one, ran.starts[0].id}).only<Inspected>();

  EXPECT_FALSE(inspected.running);
  EXPECT_TRUE(inspected.holds.empty());
}

TEST(Inspect, OfAnotherTenantsMessageFindsNothing) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  const MessageId id = rig.publish(message_to("http://a"));

  EXPECT_FALSE(rig.run(Inspect{TenantId{2}, id}).replies.at(0).has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
