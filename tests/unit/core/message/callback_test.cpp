#include "core/message/callback.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

const std::string callback_host = "http://callback.example:80";

Callback callback_to(std::string path, std::vector<Millis> waits = {}) {
  Callback callback;
  callback.url = callback_host + std::move(path);
  callback.host = callback_host;
  callback.timeout = Millis{500};
  callback.retry.retries_max = static_cast<std::uint32_t>(waits.size());
  callback.retry.delay = TableDelay{std::move(waits)};
  return callback;
}

/// Callbacks of `source` that are stored, in order.
std::vector<Message> told_of(const Rig& rig, MessageId source) {
  std::vector<Message> out;
  for (const auto& [seq, message] : rig.reader.rows<Message>()) {
    if (message->callback_of == source) {
      out.push_back(*message);
    }
  }
  return out;
}

/// The start of the message, among those of this run.
const StartAttempt& start_of(const Ran& ran, const std::string& url) {
  for (const StartAttempt& start : ran.starts) {
    if (start.message->url == url) {
      return start;
    }
  }
  throw std::runtime_error("nothing was sent to " + url);
}

const LaneKey lane_q{tenant_one, "q", {}, {}, {}};

TEST(CallbackBody, SaysEverythingOfTheAttemptAndItsSource) {
  Message source;
  source.id = {Seq{7}, 9};
  source.tenant = tenant_one;
  source.method = "PUT";
  source.url = "http://a.example/x?y=\"";
  source.headers = {{"content-type", "a/b"}, {"X-One", "1"}, {"x-one", "2"}};
  source.body = std::string("\0\xff", 2);
  source.topic = "group";
  source.endpoint = "first";
  source.schedule = "scd_1";
  source.caller_ip = "1.2.3.4";
  source.not_before = moment_from_ms(20);
  source.created_at = moment_from_ms(10);
  source.retry.retries_max = 5;
  MessageState state{.attempts = 2, .finished_at = moment_from_ms(99), .in_dlq = true};
  state.last = Attempt{
      .response_status = 503, .response_headers = {{"retry-after", "1"}}, .response_body = "no"};

  EXPECT_EQ(callback_body(source, state, 10'000),
            R"({"status":503,"header":{"Retry-After":["1"]},"retried":1,"maxRetries":5,)"
            R"("dlqId":"99-7","sourceMessageId":")" +
                to_text(source.id) +
                R"(","topicName":"group","endpointName":"first",)"
                R"("url":"http://a.example/x?y=\"","method":"PUT",)"
                R"("sourceHeader":{"Content-Type":["a/b"],"X-One":["1","2"]},)"
                R"("notBefore":20,"createdAt":10,"scheduleId":"scd_1","callerIP":"1.2.3.4",)"
                R"("body":"bm8=","sourceBody":"AP8="})");
}

TEST(CallbackBody, LeavesOutWhatIsNotThere) {
  Message source;
  source.id = {Seq{7}, 9};
  MessageState state{.attempts = 1};
  state.last = Attempt{};

  const std::string body = callback_body(source, state, 10'000);

  for (const char* absent : {"dlqId", "topicName", "endpointName", "scheduleId"}) {
    EXPECT_EQ(body.find(absent), std::string::npos) << absent;
  }
  EXPECT_NE(body.find(R"("status":0,"header":{},"retried":0)"), std::string::npos);
  EXPECT_NE(body.find(R"("body":"","sourceBody":"")"), std::string::npos);
}

TEST(CallbackBody, StaysWithinItsBound) {
  Message source;
  source.id = {Seq{7}, 9};
  source.body = std::string(5000, 's');
  MessageState state{.attempts = 1};
  state.last = Attempt{.response_body = std::string(600, 'r')};
  for (const std::size_t bound : {0UL, 400UL, 1000UL, 2000UL, 6000UL}) {
    SCOPED_TRACE(bound);

    const std::string body = callback_body(source, state, bound);

    EXPECT_LE(body.size(), std::max<std::size_t>(bound, 400));
    EXPECT_TRUE(body.ends_with("\"}"));
  }
  EXPECT_NE(callback_body(source, state, 2000).find("cnJy\",\"sourceBody\":\"c3Nz"),
            std::string::npos)
      << "the source's body gives way first";
}

TEST(Callback, IsAMessageOfItsOwnMakeAfterEachAttempt) {
  Rig rig;
  Message message = message_to("http://a.example:80", {Millis{10}});
  message.callback = callback_to("/told", {Millis{1}, Millis{2}});
  message.callback->headers = {{"X-Mine", "1"}};
  message.caller_ip = "9.9.9.9";
  message.trace.trace_id[0] = 3;
  message.redact = {"header:x-secret"};
  const Ran first = rig.run(Rig::publishing(message));
  const MessageId id = first.only<Published>().id;

  CompleteAttempt report = Rig::outcome(first.starts.at(0), false);
  report.attempt.span_id[0] = 5;
  const Ran failed = rig.run(std::move(report));
  rig.pass(Millis{10});
  const Ran again = rig.run();
  rig.run(Rig::outcome(start_of(again, message.url), true));

  const auto told = told_of(rig, id);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].body.find(R"("status":500,"header":{},"retried":0,"maxRetries":1)"),
            std::string::npos);
  EXPECT_NE(told[1].body.find(R"("status":200,"header":{},"retried":1,"maxRetries":1)"),
            std::string::npos);
  const Message& one = told[0];
  EXPECT_EQ(one.url, message.callback->url);
  EXPECT_EQ(one.host, callback_host);
  EXPECT_EQ(one.method, "POST");
  EXPECT_EQ(one.headers,
            (std::vector<Header>{{"Content-Type", "application/json"}, {"X-Mine", "1"}}));
  EXPECT_EQ(one.retry, message.callback->retry);
  EXPECT_EQ(one.timeout, Millis{500});
  EXPECT_EQ(one.caller_ip, "9.9.9.9");
  EXPECT_EQ(one.trace.trace_id, message.trace.trace_id);
  EXPECT_EQ(one.trace.parent_span[0], 5);
  EXPECT_EQ(one.redact, (std::vector<std::string>{"header:x-secret", "body"}));
  EXPECT_FALSE(one.callback.has_value());
  EXPECT_NO_THROW(start_of(failed, one.url)) << "in the batch that records the attempt";
  EXPECT_EQ(rig.reader.rows<MessageState>().at(id.seq).callbacks_open, 0U) << "nobody waits for it";
}

TEST(Callback, HasItsOwnTypeAndDelayIfAskedFor) {
  Rig rig;
  Message message = message_to("http://a.example:80");
  message.callback = callback_to("/told");
  message.callback->headers = {{"content-TYPE", "text/x"}};
  message.callback->delay = Millis{700};
  const Ran ran = rig.run(Rig::publishing(message));

  const Ran ended = rig.run(Rig::outcome(ran.starts.at(0), true));

  const auto told = told_of(rig, ran.only<Published>().id);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].headers, message.callback->headers);
  EXPECT_EQ(told[0].not_before, rig.now + Millis{700});
  EXPECT_TRUE(ended.starts.empty());
}

TEST(Callback, ComesForEveryEndOfAnAttempt) {
  struct Row {
    const char* name;
    bool delivered;
    bool give_up;
    bool canceled;
    bool lease_runs_out;
    std::size_t callbacks;
    std::size_t failures;
  };
  const Row rows[] = {
      {"delivered", true, false, false, false, 1, 0},
      {"failed for good", false, false, false, false, 1, 1},
      {"given up", false, true, false, false, 1, 1},
      {"cancelled while it ran, failed", false, false, true, false, 1, 0},
      {"cancelled while it ran, delivered", true, false, true, false, 1, 0},
      {"no outcome within the lease", false, false, false, true, 1, 1},
  };
  for (const Row& row : rows) {
    for (const char* queue : {"", "q"}) {
      SCOPED_TRACE(std::string(row.name) + queue);
      Rig rig;
      Message message = message_to("http://a.example:80");
      message.queue = queue;
      message.callback = callback_to("/told");
      message.failure_callback = callback_to("/failed");
      const Ran ran = rig.run(Rig::publishing(message));
      const MessageId id = ran.only<Published>().id;
      if (row.canceled) {
        rig.run(CancelMessage{tenant_one, id});
      }

      if (row.lease_runs_out) {
        rig.pass(Millis{1100} + rig.limits.lease_grace);
        rig.run();
      } else {
        CompleteAttempt report = Rig::outcome(ran.starts.at(0), row.delivered);
        report.give_up = row.give_up;
        rig.run(std::move(report));
      }

      std::size_t callbacks = 0;
      std::size_t failures = 0;
      for (const Message& one : told_of(rig, id)) {
        const bool with_letter = one.body.find("\"dlqId\":\"") != std::string::npos;
        EXPECT_EQ(with_letter, one.url.ends_with("/failed"));
        ++(with_letter ? failures : callbacks);
      }
      EXPECT_EQ(callbacks, row.callbacks);
      EXPECT_EQ(failures, row.failures);
    }
  }
}

TEST(Callback, HasNoCallbackOfItsOwn) {
  Rig rig;
  Message message = message_to("http://a.example:80");
  message.callback = callback_to("/told");
  message.callback_of = {Seq{1}, 1};
  message.failure_callback = message.callback;
  const Ran ran = rig.run(Rig::publishing(message));

  rig.run(Rig::outcome(ran.starts.at(0), false));

  EXPECT_EQ(rig.reader.rows<Message>().size(), 1U);
}

TEST(Callback, IsRefusedWithItsMessageWhenItsDelayMakesNoSense) {
  Rig rig;
  for (const auto callback : {&Message::callback, &Message::failure_callback}) {
    Message message = message_to("http://a.example:80");
    (message.*callback) = callback_to("/told");
    (message.*callback)->retry.delay = ExpressionDelay{"retried +"};

    const Ran ran = rig.run(Rig::publishing(message));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
}

TEST(Callback, IsToldMoreOfTheAnswerThanTheRecordKeeps) {
  Limits limits;
  limits.response_bytes_kept = 4;
  Rig rig(limits);
  Message message = message_to("http://a.example:80");
  message.failure_callback = callback_to("/failed");
  const Ran ran = rig.run(Rig::publishing(message));
  CompleteAttempt report = Rig::outcome(ran.starts.at(0), false);
  report.attempt.response_body = "123456";

  rig.run(std::move(report));

  const MessageId id = ran.only<Published>().id;
  EXPECT_EQ(rig.reader.rows<MessageState>().at(id.seq).last->response_body, "1234");
  EXPECT_NE(told_of(rig, id).at(0).body.find("\"body\":\"MTIzNDU2\""), std::string::npos);
}

// ---- queues ----

struct QueueRig : Rig {
  explicit QueueRig(const Limits& given = {}) : Rig(given) {
    Message message = queued("q", "", {Millis{10}});
    message.callback = callback_to("/told", {Millis{10}});
    message.failure_callback = callback_to("/failed");
    first = run(publishing(message));
    id = first.only<Published>().id;
    message.callback.reset();
    message.failure_callback.reset();
    message.url = "http://a.example:80/next";
    next = publish(message);
  }
  [[nodiscard]] bool next_runs() const { return machine->leased(next.seq); }
  [[nodiscard]] std::uint32_t open() {
    return reader.rows<MessageState>().at(id.seq).callbacks_open;
  }
  [[nodiscard]] bool has_entry() {
    return reader.rows<LaneRow>().contains({lane_q, {Moment{}, id.seq}});
  }

  Ran first;
  MessageId id;
  MessageId next;
};

TEST(CallbackInQueue, HoldsTheNextMessageUntilItIsDelivered) {
  QueueRig rig;

  const Ran ended = rig.run(Rig::outcome(rig.first.starts.at(0), true));
  EXPECT_FALSE(rig.next_runs());
  EXPECT_EQ(rig.open(), 1U);
  const LaneEntry entry = rig.reader.rows<LaneRow>().at({lane_q, {Moment{}, rig.id.seq}}).entry;
  EXPECT_TRUE(entry.finished && entry.started);
  const auto holds = rig.run(Inspect{tenant_one, rig.next}).only<Inspected>().holds;
  EXPECT_TRUE(std::ranges::any_of(holds, [&](const Hold& hold) {
    return hold.gate == "callbacks" && hold.detail == "callbacks of message " + to_text(rig.id);
  }));

  const Ran refused =
      rig.run(Rig::outcome(start_of(ended, callback_to("/told").url), false));  // it has a retry
  EXPECT_FALSE(rig.next_runs());
  rig.pass(Millis{10});
  const Ran again = rig.run();
  rig.run(Rig::outcome(start_of(again, callback_to("/told").url), true));

  EXPECT_TRUE(rig.next_runs());
  EXPECT_EQ(rig.open(), 0U);
  EXPECT_FALSE(rig.has_entry());
}

TEST(CallbackInQueue, HoldsTheNextMessageWhateverItsEndIs) {
  enum class End : std::uint8_t { delivered, failed, canceled, canceled_while_running };
  for (const End end : {End::delivered, End::failed, End::canceled, End::canceled_while_running}) {
    for (const bool restarted : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(end)) + (restarted ? " restarted" : ""));
      QueueRig rig;
      Ran ran = rig.run(Rig::outcome(rig.first.starts.at(0), true));
      const MessageId callback = told_of(rig, rig.id).at(0).id;
      if (restarted) {
        rig.restart();
        ran = rig.run();
      }
      EXPECT_FALSE(rig.next_runs());

      const StartAttempt start = start_of(ran, callback_to("/told").url);
      switch (end) {
        case End::delivered: rig.run(Rig::outcome(start, true)); break;
        case End::failed: {
          CompleteAttempt report = Rig::outcome(start, false);
          report.give_up = true;
          rig.run(std::move(report));
          break;
        }
        case End::canceled:
          rig.run(Rig::outcome(start, false));
          EXPECT_FALSE(rig.next_runs());
          rig.run(CancelMessage{tenant_one, callback});
          break;
        case End::canceled_while_running:
          rig.run(CancelMessage{tenant_one, callback});
          EXPECT_FALSE(rig.next_runs());
          rig.run(Rig::outcome(start, false));
          break;
      }

      EXPECT_TRUE(rig.next_runs());
      EXPECT_EQ(rig.open(), 0U);
      EXPECT_FALSE(rig.has_entry());
    }
  }
}

TEST(CallbackInQueue, OfAnEarlierAttemptHoldsItAsWell) {
  QueueRig rig;
  const Ran first = rig.run(Rig::outcome(rig.first.starts.at(0), false));
  EXPECT_EQ(rig.open(), 1U);
  rig.pass(Millis{10});
  const Ran second = rig.run();

  const Ran failed = rig.run(Rig::outcome(start_of(second, "http://a.example:80/hook"), false));

  EXPECT_EQ(rig.open(), 3U) << "two of attempts, one of the failure";
  EXPECT_FALSE(rig.next_runs());
  rig.run(Rig::outcome(start_of(first, callback_to("/told").url), true));
  rig.run(Rig::outcome(start_of(failed, callback_to("/failed").url), true));
  EXPECT_FALSE(rig.next_runs());
  rig.run(Rig::outcome(start_of(failed, callback_to("/told").url), true));
  EXPECT_TRUE(rig.next_runs());
}

TEST(CallbackInQueue, OfACancelledMessageHoldsNothing) {
  QueueRig rig;
  rig.run(Rig::outcome(rig.first.starts.at(0), false));

  rig.run(CancelMessage{tenant_one, rig.id});

  EXPECT_TRUE(rig.next_runs());
  EXPECT_EQ(rig.open(), 0U);
}

TEST(CallbackInQueue, ThatACrashCutShortAfterItsCancelFreesTheSlotAtTheNextStart) {
  QueueRig rig;
  rig.run(Rig::outcome(rig.first.starts.at(0), true));
  rig.run(CancelMessage{tenant_one, told_of(rig, rig.id).at(0).id});  // it runs

  rig.restart();
  rig.run();

  EXPECT_TRUE(rig.next_runs());
  EXPECT_FALSE(rig.has_entry());
}

TEST(CallbackInQueue, ThatIsSentAgainAsADeadLetterHoldsNothing) {
  QueueRig rig;
  const Ran ran = rig.run(Rig::outcome(rig.first.starts.at(0), false));
  CompleteAttempt report = Rig::outcome(start_of(ran, callback_to("/told").url), false);
  report.give_up = true;
  rig.run(std::move(report));
  EXPECT_EQ(rig.open(), 0U);
  rig.pass(Millis{10});
  const Ran second = rig.run();
  const Ran delivered = rig.run(Rig::outcome(start_of(second, "http://a.example:80/hook"), true));
  EXPECT_EQ(rig.open(), 1U);

  const Ran again = rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front()});
  rig.run(Rig::outcome(start_of(again, callback_to("/told").url), true));

  EXPECT_EQ(rig.open(), 1U);
  EXPECT_FALSE(rig.next_runs());
}

TEST(CallbackInQueue, KeepsItsSourceBeyondTheRetention) {
  Limits limits;
  limits.retention_finished = Millis{1000};
  limits.expiry_poll = Millis{1};
  limits.index_after = Millis{1};
  QueueRig rig(limits);
  const Ran ran = rig.run(Rig::outcome(rig.first.starts.at(0), true));
  rig.run(Rig::outcome(start_of(ran, callback_to("/told").url), false));

  rig.pass(Millis{4000});
  const Ran again = rig.run();
  rig.pass(Millis{5});
  rig.run();
  EXPECT_TRUE(rig.reader.rows<Message>().contains(rig.id.seq));
  EXPECT_FALSE(rig.next_runs());
  rig.run(Rig::outcome(start_of(again, callback_to("/told").url), true));
  EXPECT_TRUE(rig.next_runs());
  rig.pass(Millis{2000});
  rig.run();
  rig.pass(Millis{10});
  rig.run();

  EXPECT_FALSE(rig.reader.rows<Message>().contains(rig.id.seq));
}

TEST(CallbackInQueue, EndsBeforeItsSourceIsReadAgain) {
  Limits limits;
  limits.lane_window_min = 2;
  limits.lane_window_max = 2;
  Rig rig(limits);
  rig.run(UpsertQueue{tenant_one, "q", 6U, {}});
  std::vector<MessageId> sources;
  std::vector<StartAttempt> callbacks;
  for (int i = 0; i < 6; ++i) {
    Message message = queued("q");
    message.callback = callback_to("/told");
    const Ran ran = rig.run(Rig::publishing(message));
    sources.push_back(ran.only<Published>().id);
    rig.run(Rig::outcome(ran.starts.at(0), true));
  }
  const MessageId waiting = rig.publish(queued("q"));
  const MessageId last_callback = told_of(rig, sources.back()).at(0).id;
  rig.run(CancelMessage{tenant_one, last_callback});

  rig.restart();
  for (int i = 0; i < 8; ++i) {
    rig.run();
  }

  EXPECT_TRUE(rig.machine->leased(waiting.seq));
  EXPECT_EQ(rig.reader.scan(Range<LaneRow>::of(lane_q)).size(), 6U)
      << "five are held, and one runs";
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
