#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

/// A message that failed for good.
DeadLetterKey fail_one(Rig& rig) {
  const Ran ran = rig.run(Rig::publishing(message_to("http://a")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  return rig.reader.scan<DeadLetterKey>().front();
}

TEST(DeadLetter, RetryMakesANewMessageAndTakesTheOldOneOut) {
  Rig rig;
  const DeadLetterKey key = fail_one(rig);

  const Ran ran = rig.run(RetryDeadLetter{tenant_one, key});

  const MessageId again = ran.only<Published>().id;
  EXPECT_NE(again.seq, key.seq);
  EXPECT_EQ(rig.reader.get<Message>(again.seq)->replay_of.seq, key.seq);
  EXPECT_EQ(rig.reader.get<Message>(again.seq)->body, "hello");
  EXPECT_EQ(ran.started(), seqs({again.seq.value()}));
  EXPECT_TRUE(rig.reader.rows<DeadLetterKey>().empty());
  EXPECT_FALSE(rig.reader.rows<MessageState>().at(key.seq).in_dlq);
  EXPECT_EQ(rig.reader.rows<MessageState>().at(key.seq).status, Status::failed);
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
  EXPECT_EQ(rig.reader.rows<Message>().size(), 1U);
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

  const auto again = rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front()})
                         .only<Published>();

  EXPECT_FALSE(again.deduplicated);
  EXPECT_EQ(rig.reader.get<Message>(again.id.seq)->dedup_id, "");
}

std::shared_ptr<RetryDeadLetter::Changes> changes() {
  return std::make_shared<RetryDeadLetter::Changes>();
}

TEST(DeadLetter, ARetryHasTheChangesAndKeepsTheRest) {
  Rig rig;
  Message message = message_to("http://a");
  message.headers = {{"Content-Type", "text/plain"}, {"x-a", "old"}, {"X-A", "older"}};
  message.labels = {"old"};
  message.flow_key = "key";
  const Ran first = rig.run(Rig::publishing(message));
  rig.run(Rig::outcome(first.starts.at(0), false));
  const auto old = rig.reader.get<Message>(first.starts.at(0).id.seq);
  const auto changed = changes();
  changed->method = "PUT";
  changed->headers = {{"X-a", "new"}, {"X-B", "b"}};
  changed->retries_max = 7;
  changed->retry_delay = TableDelay{{Millis{5}}};
  changed->timeout = Millis{9};
  changed->labels = {"new"};
  changed->callback = Callback{.url = "http://b/", .host = "http://b"};
  changed->failure_callback = Callback{.url = "http://c/", .host = "http://c"};
  changed->flow = FlowKey{.tenant = tenant_one, .key = "other", .parallelism = 2};

  const auto again =
      rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front(), changed})
          .only<Published>();

  Message want = *old;
  want.id = again.id;
  want.replay_of = old->id;
  want.edited = true;
  want.method = "PUT";
  want.headers = {{"Content-Type", "text/plain"}, {"X-a", "new"}, {"X-B", "b"}};
  want.retry = {.retries_max = 7, .delay = TableDelay{{Millis{5}}}};
  want.timeout = Millis{9};
  want.labels = {"new"};
  want.callback = changed->callback;
  want.failure_callback = changed->failure_callback;
  want.flow_key = "other";
  EXPECT_EQ(*rig.reader.get<Message>(again.id.seq), want);
  EXPECT_EQ(rig.reader.get<FlowKey>({tenant_one, "other"})->parallelism, 2U);
  EXPECT_TRUE(rig.reader.rows<DeadLetterKey>().empty());
}

TEST(DeadLetter, AnEditedRetryGoesElsewhereWithAnotherBody) {
  Rig rig;
  Message message = message_to("http://a");
  message.headers = {{"Content-Type", "text/plain"}};
  message.body = "broken";
  message.topic = "group";
  message.endpoint = "first";
  message.dedup_id = "once";
  const Ran first = rig.run(Rig::publishing(message));
  rig.run(Rig::outcome(first.starts.at(0), false));
  const auto old = rig.reader.get<Message>(first.starts.at(0).id.seq);
  const auto changed = changes();
  changed->to = RetryDeadLetter::Target{.url = "http://b/mended", .host = "http://b"};
  changed->body = "mended";

  const Ran ran =
      rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front(), changed});

  Message want = *old;
  want.id = ran.only<Published>().id;
  want.replay_of = old->id;
  want.edited = true;
  want.url = "http://b/mended";
  want.host = "http://b";
  want.topic.clear();
  want.endpoint.clear();
  want.body = "mended";
  want.dedup_id.clear();
  EXPECT_EQ(*rig.reader.get<Message>(want.id.seq), want);
  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].message->body, "mended");
  EXPECT_TRUE(rig.reader.rows<DeadLetterKey>().empty());
  EXPECT_EQ(rig.counts().dead_letters, 0U);
}

TEST(DeadLetter, OnlyARetryThatChangesWhatIsDeliveredIsEdited) {
  struct Row {
    std::string_view name;
    void (*change)(RetryDeadLetter::Changes&);
    bool edited;
  };
  const Row rows[] = {
      {"nothing", [](RetryDeadLetter::Changes&) {}, false},
      {"retries", [](RetryDeadLetter::Changes& one) { one.retries_max = 9; }, false},
      {"labels", [](RetryDeadLetter::Changes& one) { one.labels = {"x"}; }, false},
      {"body", [](RetryDeadLetter::Changes& one) { one.body = ""; }, true},
      {"url",
       [](RetryDeadLetter::Changes& one) {
         one.to = RetryDeadLetter::Target{"http://b/", "http://b"};
       },
       true},
      {"method", [](RetryDeadLetter::Changes& one) { one.method = "PUT"; }, true},
      {"headers",
       [](RetryDeadLetter::Changes& one) {
         one.headers = std::vector<Header>{{"X-A", "1"}};
       },
       true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const auto changed = changes();
    row.change(*changed);

    const Ran ran = rig.run(RetryDeadLetter{tenant_one, fail_one(rig), changed});

    EXPECT_EQ(rig.reader.get<Message>(ran.only<Published>().id.seq)->edited, row.edited);
    // What fails again and is retried as it is was edited before, not now.
    rig.run(Rig::outcome(ran.starts.at(0), false));
    if (!rig.reader.rows<DeadLetterKey>().empty()) {
      const Ran again =
          rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front()});
      EXPECT_FALSE(rig.reader.get<Message>(again.only<Published>().id.seq)->edited);
    }
  }
}

TEST(DeadLetter, ARetryCanBeForLater) {
  struct Row {
    std::string_view name;
    Moment not_before;
    Millis delay;
    Millis due_in;
  };
  const Row rows[] = {{"delay", {}, Millis{5000}, Millis{5000}},
                      {"a time", moment_from_ms(1'003'000), {}, Millis{3000}},
                      {"a time that has passed", moment_from_ms(1), {}, {}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    const auto changed = changes();
    changed->not_before = row.not_before;
    changed->delay = row.delay;

    const Ran ran = rig.run(RetryDeadLetter{tenant_one, fail_one(rig), changed});

    EXPECT_EQ(rig.reader.get<Message>(ran.only<Published>().id.seq)->not_before,
              rig.now + row.due_in);
    EXPECT_EQ(ran.starts.size(), row.due_in == Millis{0} ? 1U : 0U);
  }
}

TEST(DeadLetter, StaysWhenItsChangesAreRefused) {
  Rig rig;
  const Ran ran = rig.run(Rig::publishing(queued("orders")));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  const DeadLetterKey key = rig.reader.scan<DeadLetterKey>().front();
  const auto delayed = changes();
  delayed->delay = Millis{1};
  const auto broken = changes();
  broken->retry_delay = ExpressionDelay{"("};

  for (const auto& changed : {delayed, broken}) {
    const Ran refused = rig.run(RetryDeadLetter{tenant_one, key, changed});
    ASSERT_FALSE(refused.replies.at(0).has_value());
    EXPECT_EQ(refused.replies[0].error().kind, ErrorKind::invalid_argument);
  }

  EXPECT_EQ(rig.counts().dead_letters, 1U);
  EXPECT_EQ(rig.reader.rows<Message>().size(), 1U);
  EXPECT_TRUE(rig.run(RetryDeadLetter{tenant_one, key}).replies.at(0).has_value());
}

TEST(DeadLetter, ACallbackThatIsRetriedGetsNoCallbacksAndHoldsNothingUp) {
  Rig rig;
  Message callback = message_to("http://a");
  callback.callback_of = MessageId{Seq{77}, 1};
  const Ran ran = rig.run(Rig::publishing(callback));
  rig.run(Rig::outcome(ran.starts.at(0), false));
  const auto changed = changes();
  changed->callback = Callback{.url = "http://b/", .host = "http://b"};
  changed->failure_callback = changed->callback;

  const auto again =
      rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front(), changed})
          .only<Published>();

  const auto message = rig.reader.get<Message>(again.id.seq);
  EXPECT_FALSE(message->callback || message->failure_callback);
  EXPECT_EQ(message->callback_of, callback.callback_of);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
