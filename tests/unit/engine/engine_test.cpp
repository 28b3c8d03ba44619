#include "engine/engine.h"

#include <gtest/gtest.h>

#include <future>

#include "unit/engine/gated_store.h"

namespace hk::engine {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
constexpr auto patience = 60s;  // for a thread that never answers; no test passes by waiting

class FixedClock final : public Clock {
 public:
  Moment now() override { return Moment{Millis{1'700'000'000'000}}; }
};

/// Replies are handed over on the sync thread; here they go straight to whoever waits.
class DirectMailbox final : public Mailbox {
 public:
  void deliver(std::vector<Finished> finished) override {
    for (Finished& one : finished) {
      one.done(std::move(one.reply));
    }
  }
};

class EngineTest : public ::testing::Test {
 protected:
  ~EngineTest() override {
    store_.open_gate();
    engine_.reset();
  }

  void start(EngineOptions options = {}) {
    options.run_effects = [this](std::vector<core::Effect> effects) {
      const std::lock_guard lock(mutex_);
      for (core::Effect& effect : effects) {
        effects_.push_back(std::move(effect));
      }
      changed_.notify_all();
    };
    options.on_fatal = [this](const Error& error) { fatal_.set_value(error); };
    engine_ = std::make_unique<Engine>(std::move(options), store_, clock_, rng_);
    ASSERT_TRUE(engine_->start().has_value());
    const core::Reply made = wait_for(submit(core::UpsertTenant{{.name = "default"}}));
    ASSERT_TRUE(made.has_value());
    tenant_ = made->get<core::TenantStored>().id;
  }

  core::Command publish(std::string dedup_id = {}, std::string body = {}) {
    auto message = std::make_unique<core::Message>();
    message->tenant = tenant_;
    message->url = "http://receiver/";
    message->host = "http://receiver:80";
    message->timeout = 30s;
    message->dedup_id = std::move(dedup_id);
    message->body = std::move(body);
    return core::Publish{.message = std::move(message)};
  }

  std::future<core::Reply> submit(core::Command command) {
    auto promise = std::make_shared<std::promise<core::Reply>>();
    auto reply = promise->get_future();
    std::vector<Submission> batch;
    batch.push_back({std::move(command),
                     [promise](core::Reply answer) { promise->set_value(std::move(answer)); },
                     &mailbox_});
    engine_->submit(batch);
    if (!batch.empty()) {
      promise->set_value(fail(ErrorKind::unavailable, "not taken"));
    }
    return reply;
  }

  /// Two batches may be unsynced; the core then waits, and what comes stays in the inbox.
  std::vector<std::future<core::Reply>> hold_the_core() {
    store_.close_gate();
    std::vector<std::future<core::Reply>> held;
    held.push_back(submit(publish()));
    store_.wait_until_a_sync_waits();
    held.push_back(submit(publish()));
    while (engine_->stats().commands < 3) {  // the tenant and these two
      std::this_thread::yield();
    }
    return held;
  }

  static core::Reply wait_for(std::future<core::Reply> reply) {
    if (reply.wait_for(patience) != std::future_status::ready) {
      return fail(ErrorKind::internal, "no reply");
    }
    return reply.get();
  }

  std::vector<core::Effect> wait_for_effects(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return effects_.size() >= count; });
    return effects_;
  }
  std::size_t attempts_started() {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        effects_.begin(), effects_.end(),
        [](const auto& effect) { return std::holds_alternative<core::StartAttempt>(effect); }));
  }

  GatedStore store_;
  FixedClock clock_;
  SeededRng rng_{7};
  DirectMailbox mailbox_;
  core::TenantId tenant_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::Effect> effects_;
  std::promise<Error> fatal_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, CredentialsHaveChangedWhenTheirChangeIsAnswered) {
  start();
  const auto changes = [this] {
    const std::lock_guard lock(mutex_);
    return std::count_if(effects_.begin(), effects_.end(), [](const auto& effect) {
      return std::holds_alternative<core::TenantChanged>(effect);
    });
  };
  std::promise<std::ptrdiff_t> seen;
  std::vector<Submission> batch;
  batch.push_back({core::UpsertTenant{{.id = tenant_, .name = "default", .token_digests = {"new"}}},
                   [&](const core::Reply&) { seen.set_value(changes()); }, &mailbox_});

  engine_->submit(batch);

  auto at_the_reply = seen.get_future();
  ASSERT_EQ(at_the_reply.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(at_the_reply.get(), 2);  // the tenant itself, and this
}

TEST_F(EngineTest, NeitherReplyNorEffectLeavesBeforeTheSync) {
  start();
  store_.close_gate();

  auto reply = submit(publish());
  store_.wait_until_a_sync_waits();

  EXPECT_EQ(reply.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(attempts_started(), 0U);

  store_.open_gate();
  EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  EXPECT_EQ(wait_for_effects(2).size(), 2U);  // the tenant's and the attempt
  EXPECT_EQ(attempts_started(), 1U);
}

TEST_F(EngineTest, EveryBatchThatOneSyncCoversIsAnsweredAndItsAttemptsStart) {
  EngineOptions options;
  options.unsynced_batches_max = 4;
  start(std::move(options));
  store_.close_gate();
  std::vector<std::future<core::Reply>> replies;
  replies.push_back(submit(publish()));
  store_.wait_until_a_sync_waits();
  for (std::uint64_t more = 1; more <= 3; ++more) {  // batches of their own, for the next sync
    replies.push_back(submit(publish()));
    while (engine_->stats().commands < 2 + more) {  // the tenant, the first, and these
      std::this_thread::yield();
    }
  }

  store_.open_gate();

  for (std::future<core::Reply>& reply : replies) {
    EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  }
  wait_for_effects(1 + replies.size());  // the tenant's and the attempts
  EXPECT_EQ(attempts_started(), replies.size());
}

TEST_F(EngineTest, TheFirstBatchIsSyncedHoweverLateTheSyncThreadBegins) {
  store_.make_threads_late();

  start();  // and a first command, which was answered

  store_.with([](const store::SimStore& store) {
    EXPECT_EQ(store.last_synced(), store.last_written());
    return 0;
  });
}

TEST_F(EngineTest, ADuplicateIsNotConfirmedBeforeTheFirstIsDurable) {
  start();
  store_.close_gate();
  auto first = submit(publish("once"));
  store_.wait_until_a_sync_waits();

  auto second = submit(publish("once"));

  EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
  store_.open_gate();
  const auto one = wait_for(std::move(first));
  const auto two = wait_for(std::move(second));
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ(one->get<core::Published>().id, two->get<core::Published>().id);
  EXPECT_TRUE(two->get<core::Published>().deduplicated);
}

TEST_F(EngineTest, ReadersSeeOnlyWhatIsDurable) {
  start();
  store_.close_gate();
  auto reply = submit(publish());
  store_.wait_until_a_sync_waits();

  EXPECT_EQ(engine_->durable_view()->last_seq(), core::Seq{});

  store_.open_gate();
  const auto published = wait_for(std::move(reply));
  ASSERT_TRUE(published.has_value());
  const auto id = published->get<core::Published>().id;
  const auto message = engine_->durable_view()->get<core::Message>(id.seq);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->id, id);
}

TEST_F(EngineTest, AFullInboxTakesWhatFitsAndLeavesTheRest) {
  start({.inbox_max = 4});
  auto held = hold_the_core();

  std::vector<Submission> batch;
  for (int i = 0; i < 10; ++i) {
    batch.push_back({publish(), {}, nullptr});
  }
  engine_->submit(batch);

  EXPECT_EQ(batch.size(), 6U);
  store_.open_gate();
  EXPECT_TRUE(wait_for(std::move(held[0])).has_value());
  EXPECT_TRUE(wait_for(std::move(held[1])).has_value());
}

TEST_F(EngineTest, AnInboxFullOfBytesRefusesMessagesAndStillTakesOutcomes) {
  constexpr std::size_t body = 400 * 1024;
  start({.inbox_bytes_max = 1024 * 1024});
  auto held = hold_the_core();
  auto first = submit(publish({}, std::string(body, 'a')));
  auto second = submit(publish({}, std::string(body, 'b')));
  EXPECT_GE(engine_->stats().inbox_bytes, 2 * body);
  EXPECT_LE(engine_->stats().inbox_bytes, 1024U * 1024U);

  EXPECT_EQ(wait_for(submit(publish({}, std::string(body, 'c')))).error().kind,
            ErrorKind::unavailable);
  auto outcome = submit(core::CompleteAttempt{});

  EXPECT_EQ(engine_->stats().inbox, 3U);
  EXPECT_EQ(engine_->stats().inbox_refused, 1U);
  store_.open_gate();
  for (auto* reply : {&held[0], &held[1], &first, &second}) {
    EXPECT_TRUE(wait_for(std::move(*reply)).has_value());
  }
  const core::Reply judged = wait_for(std::move(outcome));
  ASSERT_FALSE(judged.has_value());
  EXPECT_EQ(judged.error().kind, ErrorKind::conflict);  // by the core, so it was taken
}

TEST_F(EngineTest, AnInboxTakesMessagesAgainWhenItsBytesAreWritten) {
  start({.inbox_bytes_max = 1024 * 1024});
  auto held = hold_the_core();
  auto first = submit(publish({}, std::string(600 * 1024, 'a')));
  ASSERT_FALSE(wait_for(submit(publish({}, std::string(600 * 1024, 'b')))).has_value());

  store_.open_gate();
  ASSERT_TRUE(wait_for(std::move(first)).has_value());
  while (engine_->stats().inbox_bytes != 0) {
    std::this_thread::yield();
  }

  EXPECT_TRUE(wait_for(submit(publish({}, std::string(600 * 1024, 'b')))).has_value());
}

TEST_F(EngineTest, AMessageLargerThanAllOfTheInboxIsTakenAlone) {
  start({.inbox_bytes_max = 1024});

  EXPECT_TRUE(wait_for(submit(publish({}, std::string(4096, 'a')))).has_value());
}

TEST_F(EngineTest, CopiesOfLargeBodiesAreSpreadOverBatches) {
  EngineOptions options;
  options.limits.batch_bytes = 10 * 1024;
  start(std::move(options));
  constexpr std::size_t count = 5;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(wait_for(submit(publish({}, std::string(8 * 1024, 'a')))).has_value());
  }
  std::vector<Submission> retries;
  std::vector<std::future<core::Reply>> replies;
  for (const core::Effect& effect : wait_for_effects(count + 1)) {
    if (const auto* start = std::get_if<core::StartAttempt>(&effect)) {
      ASSERT_TRUE(wait_for(submit(core::CompleteAttempt{.id = start->id,
                                                        .fence = start->fence,
                                                        .attempt = {.response_status = 400},
                                                        .give_up = true}))
                      .has_value());
      auto promise = std::make_shared<std::promise<core::Reply>>();
      replies.push_back(promise->get_future());
      retries.push_back({core::RetryDeadLetter{tenant_, {tenant_, clock_.now(), start->id.seq}, {}},
                         [promise](core::Reply answer) { promise->set_value(std::move(answer)); },
                         &mailbox_});
    }
  }
  ASSERT_EQ(retries.size(), count);
  const std::uint64_t before = engine_->stats().batches;

  engine_->submit(retries);

  EXPECT_TRUE(retries.empty());
  for (auto& reply : replies) {
    EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  }
  EXPECT_GE(engine_->stats().batches - before, 3U) << "of two copies at most";
  EXPECT_EQ(wait_for_effects(2 * count + 1).size(), 2 * count + 1);
}

TEST_F(EngineTest, AFailedSyncAnswersUnknownAndStopsTheEngine) {
  start();
  store_.close_gate();
  auto reply = submit(publish());
  store_.wait_until_a_sync_waits();
  store_.with([](store::SimStore& store) { store.fail_next_sync(); });
  store_.open_gate();

  const auto answer = wait_for(std::move(reply));

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::unknown_outcome);
  auto fatal = fatal_.get_future();
  ASSERT_EQ(fatal.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(wait_for(submit(publish())).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(attempts_started(), 0U);
}

TEST_F(EngineTest, AFailedWriteStopsTheEngine) {
  start();
  store_.with([](store::SimStore& store) { store.fail_next_write(); });

  auto reply = submit(publish());

  auto fatal = fatal_.get_future();
  ASSERT_EQ(fatal.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(attempts_started(), 0U);
  const auto answer = wait_for(std::move(reply));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::unknown_outcome);
}

TEST_F(EngineTest, StoppingExecutesWhatWasTaken) {
  start();
  std::vector<std::future<core::Reply>> replies;
  for (int i = 0; i < 100; ++i) {
    replies.push_back(submit(publish()));
  }

  engine_->stop();

  for (auto& reply : replies) {
    EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  }
  EXPECT_EQ(store_.with([](store::SimStore& store) { return store.last_synced(); }),
            store_.last_written());
}

TEST_F(EngineTest, ADrainStartsNothingNew) {
  start();
  engine_->stop_starting();

  EXPECT_TRUE(wait_for(submit(publish())).has_value());
  EXPECT_TRUE(wait_for(submit(publish())).has_value());

  EXPECT_EQ(attempts_started(), 0U);
}

TEST_F(EngineTest, ADrainAnswersWhoWaitsForMessages) {
  start();
  ASSERT_TRUE(wait_for(submit(core::CreatePullQueue{tenant_, "q", {}})).has_value());
  core::Receive receive{.tenant = tenant_, .queue = "q", .receiver = core::ReceiverId{1}};
  receive.wait = 20s;
  auto answer = submit(std::move(receive));

  engine_->stop_starting();  // the clock stands still: no wait ends by itself

  const core::Reply reply = wait_for(std::move(answer));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->get<core::Received>().receiver, core::ReceiverId{1});
  EXPECT_TRUE(reply->get<core::Received>().messages.empty());
}

TEST_F(EngineTest, WhoWaitsForMessagesIsAnsweredOnceWithWhatComes) {
  start();
  ASSERT_TRUE(wait_for(submit(core::CreatePullQueue{tenant_, "q", {}})).has_value());
  core::Receive receive{.tenant = tenant_, .queue = "q", .receiver = core::ReceiverId{1}};
  receive.wait = 20s;
  auto answer = submit(std::move(receive));
  auto message = std::make_unique<core::Message>();
  message->tenant = tenant_;
  message->queue = "q";
  message->pull.emplace();
  core::Publish sent{.message = std::move(message)};
  ASSERT_TRUE(wait_for(submit(std::move(sent))).has_value());

  const core::Reply reply = wait_for(std::move(answer));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->get<core::Received>().messages.size(), 1U);
}

TEST_F(EngineTest, WhoWaitsForMessagesIsToldWhenTheEngineStops) {
  start();
  ASSERT_TRUE(wait_for(submit(core::CreatePullQueue{tenant_, "q", {}})).has_value());
  core::Receive receive{.tenant = tenant_, .queue = "q", .receiver = core::ReceiverId{1}};
  receive.wait = 20s;
  auto answer = submit(std::move(receive));
  ASSERT_TRUE(wait_for(submit(core::CountQueue{tenant_, "q"})).has_value());

  engine_->stop();

  EXPECT_EQ(wait_for(std::move(answer)).error().kind, ErrorKind::unavailable);
}

TEST_F(EngineTest, WhatWasAcceptedIsSentAfterARestart) {
  start();
  engine_->stop_starting();
  ASSERT_TRUE(wait_for(submit(publish())).has_value());
  engine_->stop();
  engine_.reset();

  EngineOptions options;
  std::promise<core::StartAttempt> started;
  options.run_effects = [&](std::vector<core::Effect> effects) {
    started.set_value(std::get<core::StartAttempt>(effects.front()));
  };
  engine_ = std::make_unique<Engine>(std::move(options), store_, clock_, rng_);
  ASSERT_TRUE(engine_->start().has_value());

  auto attempt = started.get_future();
  ASSERT_EQ(attempt.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(attempt.get().fence, (core::Fence{.epoch = 2, .attempt = 1}));
  engine_->stop();
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
