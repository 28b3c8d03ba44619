#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace {

/// A message that failed for good.
DeadLetterKey fail_one(Rig& rig) {
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  return *rig.reader.letters.begin();
}

TEST(DeadLetter, RetryMakesANewMessageAndTakesTheOldOneOut) {
  Rig rig;
  const DeadLetterKey key = fail_one(rig);

  const Ran ran = rig.run(RetryDeadLetter{tenant_one, key});

  const MessageId again = ran.only<Published>().id;
  EXPECT_NE(again.seq, key.seq);
  EXPECT_EQ(rig.reader.message(again.seq)->replay_of.seq, key.seq);
  EXPECT_EQ(rig.reader.message(again.seq)->body, "hello");
  EXPECT_EQ(ran.started(), seqs({again.seq.value()}));
  EXPECT_TRUE(rig.reader.letters.empty());
  EXPECT_FALSE(rig.reader.states.at(key.seq).in_dlq);
  EXPECT_EQ(rig.reader.states.at(key.seq).status, Status::failed);
  EXPECT_EQ(rig.counts().dead_letters, 0U);
  EXPECT_EQ(rig.counts().failed, 1U);
}

TEST(DeadLetter, IsRetriedOrDeletedOnce) {
  Rig rig;
  const DeadLetterKey key = fail_one(rig);

  const Ran ran =
      rig.run(DeleteDeadLetterCommand{tenant_one, key}, RetryDeadLetter{tenant_one, key},
              DeleteDeadLetterCommand{tenant_one, key});

  EXPECT_TRUE(ran.replies.at(0).has_value());
  for (const std::size_t i : {1U, 2U}) {
    ASSERT_FALSE(ran.replies.at(i).has_value());
    EXPECT_EQ(ran.replies[i].error().kind, ErrorKind::not_found);
  }
  EXPECT_EQ(rig.counts().dead_letters, 0U);
  EXPECT_EQ(rig.reader.messages.size(), 1U);
}

TEST(DeadLetter, IsOfItsTenantOnly) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  const DeadLetterKey key = fail_one(rig);
  DeadLetterKey forged = key;
  forged.tenant = TenantId{2};

  EXPECT_FALSE(rig.run(RetryDeadLetter{TenantId{2}, key}).replies.at(0).has_value());
  EXPECT_FALSE(rig.run(RetryDeadLetter{TenantId{2}, forged}).replies.at(0).has_value());
  EXPECT_FALSE(rig.run(DeleteDeadLetterCommand{TenantId{2}, key}).replies.at(0).has_value());
  EXPECT_EQ(rig.counts().dead_letters, 1U);
}

TEST(DeadLetter, RetryIsNeverTakenForADuplicate) {
  Rig rig;
  Message message = message_to("http://a");
  message.dedup_id = "once";
  const Ran ran = rig.run(Rig::publishing(message));
  rig.run(Rig::outcome(ran.starts.at(0), false));

  const auto again =
      rig.run(RetryDeadLetter{tenant_one, *rig.reader.letters.begin()}).only<Published>();

  EXPECT_FALSE(again.deduplicated);
  EXPECT_EQ(rig.reader.message(again.id.seq)->dedup_id, "");
}

}  // namespace
}  // namespace hk::core::testing
