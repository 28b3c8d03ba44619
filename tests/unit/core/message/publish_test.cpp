#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TEST(Publish, RefusesWhatCannotBeAccepted) {
  struct Row {
    std::string_view name;
    Message message;
    ErrorKind refused;
  };
  Message stranger = message_to("http://a");
  stranger.tenant = TenantId{9};
  Message unreadable = message_to("http://a");
  unreadable.retry.delay = ExpressionDelay{"retried +"};
  Message delayed = queued("q");
  delayed.not_before = moment_from_ms(9'000'000);
  const Row rows[] = {
      {"of a tenant that is not there", stranger, ErrorKind::not_found},
      {"with a policy that cannot be read", unreadable, ErrorKind::invalid_argument},
      {"delayed in a queue", delayed, ErrorKind::invalid_argument},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;

    const Ran ran = rig.run(Rig::publishing(row.message));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_TRUE(rig.reader.rows<Message>().empty());
    EXPECT_TRUE(rig.reader.rows<Queue>().empty());
  }
}

TEST(Publish, StoresAndStartsInOneBatch) {
  Rig rig;

  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));

  const MessageId id = ran.only<Published>().id;
  ASSERT_NE(rig.reader.get<Message>(id.seq), nullptr);
  EXPECT_EQ(rig.reader.get<Message>(id.seq)->created_at, rig.now);
  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].id, id);
  EXPECT_EQ(ran.starts[0].fence, (Fence{1, 1}));
  EXPECT_EQ(ran.starts[0].lease_until, rig.now + Millis{1100} + rig.limits.lease_grace);
  EXPECT_TRUE(
      rig.reader.rows<LaneRow>().empty());  // delivered at once, it never needs an index entry
  EXPECT_EQ(rig.counts().pending, 1U);
}

TEST(Publish, CountsADelayFromTheAcceptance) {
  Rig rig;
  Publish command{.message = std::make_unique<Message>(message_to("http://a")),
                  .delay = Millis{100}};

  const Ran ran = rig.run(std::move(command));

  EXPECT_TRUE(ran.starts.empty());
  const auto stored = rig.reader.get<Message>(ran.only<Published>().id.seq);
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->not_before, stored->created_at + Millis{100});
}

TEST(Publish, WaitsForItsTime) {
  Rig rig;
  Message message = message_to("http://a");
  message.not_before = rig.now + Millis{100};
  EXPECT_TRUE(rig.run(Rig::publishing(message)).starts.empty());
  EXPECT_EQ(rig.machine->wake_at(), rig.now + Millis{100});

  rig.pass(Millis{99});
  EXPECT_TRUE(rig.run().starts.empty());
  rig.pass(Millis{1});
  EXPECT_EQ(rig.run().started(), seqs({1}));
}

TEST(Publish, IsRecognisedWithinItsWindowAndNotAfter) {
  struct Row {
    std::string_view name;
    Millis later;
    bool deduplicated;
  };
  const Row rows[] = {
      {"at once", Millis{0}, true},
      {"at the last moment", Millis{999}, true},
      {"when the window is over", Millis{1000}, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    Message message = message_to("http://a");
    message.dedup_id = "same";
    const auto first = rig.run(Rig::publishing(message, Millis{1000})).only<Published>();
    rig.pass(row.later);

    const auto second = rig.run(Rig::publishing(message, Millis{1000})).only<Published>();

    EXPECT_EQ(second.deduplicated, row.deduplicated);
    EXPECT_EQ(second.id == first.id, row.deduplicated);
    EXPECT_EQ(rig.counts().accepted, row.deduplicated ? 1U : 2U);
    EXPECT_EQ(rig.counts().deduplicated, row.deduplicated ? 1U : 0U);
  }
}

TEST(Publish, IsRecognisedWithinItsOwnBatchAndAfterARestart) {
  Rig rig;
  Message message = message_to("http://a");
  message.dedup_id = "same";

  const Ran ran = rig.run(Rig::publishing(message), Rig::publishing(message));
  rig.restart();
  const auto third = rig.run(Rig::publishing(message)).only<Published>();

  const auto first = ran.replies.at(0)->get<Published>();
  const auto second = ran.replies.at(1)->get<Published>();
  EXPECT_FALSE(first.deduplicated);
  EXPECT_TRUE(second.deduplicated);
  EXPECT_EQ(second.id, first.id);
  EXPECT_TRUE(third.deduplicated);
  EXPECT_EQ(third.id, first.id);
}

TEST(Publish, DedupIdsOfTenantsAreTheirOwn) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  Message message = message_to("http://a");
  message.dedup_id = "same";
  rig.publish(message);
  message.tenant = TenantId{2};

  EXPECT_FALSE(rig.run(Rig::publishing(message)).only<Published>().deduplicated);
}

TEST(Publish, ADedupIdCountsOncePerDestination) {
  Rig rig;
  Message message = message_to("http://a");
  message.dedup_id = "same";
  const auto first = rig.run(Rig::publishing(message)).only<Published>();
  Message other = message;
  other.url += "?x=1";

  EXPECT_FALSE(rig.run(Rig::publishing(other)).only<Published>().deduplicated);
  EXPECT_EQ(rig.run(Rig::publishing(message)).only<Published>().id, first.id);
}

TEST(Publish, BringsTheSettingsOfItsFlowKey) {
  Rig rig;
  Message message = message_to("http://a");
  message.flow_key = "f";
  Publish publish = Rig::publishing(message);
  publish.flow = FlowKey{.parallelism = 3, .rate = 2, .period = Millis{5000}};

  rig.run(std::move(publish));

  const FlowKey& stored = rig.reader.rows<FlowKey>().at({tenant_one, "f"});
  EXPECT_EQ(stored.parallelism, 3U);
  EXPECT_EQ(stored.rate, 2U);
  EXPECT_EQ(stored.period, Millis{5000});
  EXPECT_EQ(stored.window_count, 1U);  // its own start is counted, in the same batch
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
