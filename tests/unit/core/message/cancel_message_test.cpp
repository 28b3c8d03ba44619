#include <gtest/gtest.h>

#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TEST(CancelMessage, RefusesWhatIsNotThere) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  Message later = message_to("http://a");
  later.not_before = rig.now + Millis{5000};
  const MessageId id = rig.publish(later);
  struct Row {
    std::string_view name;
    TenantId tenant;
    MessageId id;
  };
  const Row rows[] = {
      {"an unknown number", tenant_one, {Seq{99}, id.nonce}},
      {"a guessed id", tenant_one, {id.seq, id.nonce + 1}},
      {"another tenant's", TenantId{2}, id},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Ran ran = rig.run(CancelMessage{row.tenant, row.id});
    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::not_found);
    EXPECT_TRUE(ran.mutations.empty());
  }
}

TEST(CancelMessage, WhoNamesNothingMeansWhatTheQStashApiMade) {
  PullRig rig;
  rig.make("q");
  Message pushed = message_to("http://a");
  pushed.not_before = rig.now + Millis{5000};
  Message notification = pushed;
  notification.notification = true;
  const MessageId waits = rig.send("q", "waits");
  const MessageId received = rig.send("q", "received");
  EXPECT_EQ(rig.receive("q", 1), Bodies{"waits"});
  for (const MessageId id : {waits, received, rig.publish(notification)}) {
    const Ran ran = rig.run(CancelMessage{tenant_one, id, true});
    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::not_found);
    EXPECT_TRUE(ran.mutations.empty());
    rig.run(CancelMessage{tenant_one, id}).only<Canceled>();
  }
  rig.run(CancelMessage{tenant_one, rig.publish(pushed), true}).only<Canceled>();
}

TEST(CancelMessage, EndsAWaitingMessageAtOnce) {
  Rig rig;
  Message later = message_to("http://a");
  later.not_before = rig.now + Millis{5000};
  const MessageId id = rig.publish(later);

  EXPECT_FALSE(rig.run(CancelMessage{tenant_one, id}).only<Canceled>().running);
  rig.pass(Millis{10'000});

  EXPECT_TRUE(rig.run().starts.empty());
  EXPECT_EQ(rig.reader.rows<MessageState>().at(id.seq).status, Status::canceled);
  EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());
  EXPECT_EQ(rig.counts().canceled, 1U);
  EXPECT_EQ(rig.counts().pending, 0U);
  EXPECT_FALSE(rig.run(CancelMessage{tenant_one, id}).replies.at(0).has_value());
}

TEST(CancelMessage, OfARunningOneLetsTheAttemptEnd) {
  struct Row {
    std::string_view name;
    bool delivered;
    Status status;
  };
  const Row rows[] = {
      {"it lands", true, Status::succeeded},
      {"it fails", false, Status::canceled},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{0}, Millis{0}})));
    EXPECT_TRUE(rig.run(CancelMessage{tenant_one, ran.starts.at(0).id}).only<Canceled>().running);

    const Ran ended = rig.run(Rig::outcome(ran.starts[0], row.delivered));

    EXPECT_TRUE(ended.starts.empty());
    EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).status, row.status);
    EXPECT_TRUE(rig.reader.rows<LaneRow>().empty());
  }
}

TEST(CancelMessage, OfARunningOneSurvivesACrash) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(message_to("http://a", {Millis{0}})));
  rig.run(CancelMessage{tenant_one, ran.starts.at(0).id});

  rig.restart();

  EXPECT_TRUE(rig.run().starts.empty());
  EXPECT_EQ(rig.reader.rows<MessageState>().at(Seq{1}).status, Status::canceled);
  EXPECT_EQ(rig.counts().canceled, 1U);
  EXPECT_EQ(rig.machine->in_memory(), 0U);
}

TEST(CancelMessage, ReachesBeyondTheWindow) {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  limits.destination_parallelism = 1;
  Rig rig(limits);
  std::vector<MessageId> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(rig.publish(message_to("http://a")));
  }
  ASSERT_LE(rig.machine->in_memory(), 3U);

  EXPECT_FALSE(rig.run(CancelMessage{tenant_one, ids[7]}).only<Canceled>().running);

  EXPECT_EQ(rig.reader.rows<MessageState>().at(ids[7].seq).status, Status::canceled);
  for (const LaneRow& row : rig.reader.scan<LaneRow>()) {
    EXPECT_NE(row.entry.place.seq, ids[7].seq);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
