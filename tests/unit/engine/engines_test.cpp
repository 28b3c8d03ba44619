#include "engine/engines.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <set>

#include "unit/engine/gated_store.h"

namespace hk::engine {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
constexpr auto patience = 60s;  // for a thread that never answers; no test passes by waiting
constexpr std::uint16_t partitions = 4;

class StandingClock final : public Clock {
 public:
  Moment now() override { return Moment{Millis{1'700'000'000'000}}; }
};

class Straight final : public Mailbox {
 public:
  void deliver(std::vector<Finished> finished) override {
    for (Finished& one : finished) {
      one.done(std::move(one.reply));
    }
  }
};

core::PartitionId at(std::uint16_t number) { return core::PartitionId{number}; }
core::TenantId tenant_in(std::uint16_t partition) { return core::TenantId{10U + partition}; }

/// Four partitions, numbered from 0, each with one tenant.
class EnginesTest : public ::testing::Test {
 protected:
  struct Home {
    GatedStore store{};
    StandingClock clock{};
    SeededRng rng{7};
  };

  ~EnginesTest() override {
    for (Home& home : homes_) {
      home.store.open_gate();
    }
    engines_.reset();
  }

  void make(core::Limits limits = {}) {
    EnginesOptions options;
    options.engine.limits = limits;
    options.engine.run_effects = [this](std::vector<core::Effect> effects) {
      const std::lock_guard lock(mutex_);
      for (core::Effect& effect : effects) {
        if (auto* start = std::get_if<core::StartAttempt>(&effect)) {
          started_.push_back(std::move(*start));
        }
      }
      changed_.notify_all();
    };
    options.on_fatal = [this](core::PartitionId partition, const Error& /*error*/) {
      const std::lock_guard lock(mutex_);
      failed_.insert(partition);
      changed_.notify_all();
    };
    engines_ = std::make_unique<Engines>(std::move(options));
  }

  Result<void> open(std::uint16_t partition) {
    Home& home = homes_[partition];
    return engines_->open(at(partition), home.store, home.clock, home.rng);
  }

  void open_all(core::Limits limits = {}) {
    make(limits);
    for (std::uint16_t i = 0; i < partitions; ++i) {
      ASSERT_TRUE(open(i).has_value());
      const core::Tenant tenant{.id = tenant_in(i), .name = "tenant " + std::to_string(i)};
      ASSERT_TRUE(engines_->assign(tenant.id, at(i)).has_value());
      const auto stored =
          wait_for(submit(core::UpsertTenant{.tenant = tenant, .create_with_id = true}));
      ASSERT_TRUE(stored.has_value());
      ASSERT_EQ(stored->get<core::TenantStored>().id, tenant.id);
    }
  }

  static core::Command publish(core::TenantId tenant) {
    auto message = std::make_unique<core::Message>();
    message->tenant = tenant;
    message->url = "http://receiver/";
    message->host = "http://receiver:80";
    message->timeout = 30s;
    return core::Publish{.message = std::move(message)};
  }

  Submission submission(core::Command command, std::future<core::Reply>& reply) {
    auto promise = std::make_shared<std::promise<core::Reply>>();
    reply = promise->get_future();
    return {std::move(command),
            [promise](core::Reply answer) { promise->set_value(std::move(answer)); }, &mailbox_};
  }
  std::future<core::Reply> submit(core::Command command) {
    std::future<core::Reply> reply;
    std::vector<Submission> batch;
    batch.push_back(submission(std::move(command), reply));
    engines_->submit(batch);
    for (Submission& left : batch) {
      left.done(fail(ErrorKind::unavailable, "not taken"));
    }
    return reply;
  }

  static core::Reply wait_for(std::future<core::Reply> reply) {
    if (reply.wait_for(patience) != std::future_status::ready) {
      return fail(ErrorKind::internal, "no reply");
    }
    return reply.get();
  }
  core::MessageId published(std::uint16_t partition) {
    const auto reply = wait_for(submit(publish(tenant_in(partition))));
    EXPECT_TRUE(reply.has_value());
    return reply ? reply->get<core::Published>().id : core::MessageId{};
  }

  std::vector<core::StartAttempt> wait_for_attempts(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return started_.size() >= count; });
    return started_;
  }
  bool wait_until_failed(std::uint16_t partition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return failed_.contains(at(partition)); });
  }
  void lose_power(std::uint16_t partition) {
    homes_[partition].store.with([](store::SimStore& store) {
      SeededRng rng(3);
      store.crash(rng);
      store.reopen();
    });
  }
  static std::string error_of(const core::Reply& reply) {
    return reply ? "no error" : reply.error().message;
  }

  std::array<Home, partitions> homes_{};
  Straight mailbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::StartAttempt> started_;
  std::set<core::PartitionId> failed_;
  std::unique_ptr<Engines> engines_;
};

TEST_F(EnginesTest, EachCommandOfABatchGoesToThePartitionOfItsTenant) {
  open_all();
  std::vector<std::future<core::Reply>> replies(3UL * partitions);
  std::vector<Submission> batch;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto partition = static_cast<std::uint16_t>(i % partitions);
    batch.push_back(submission(publish(tenant_in(partition)), replies[i]));
  }

  engines_->submit(batch);

  EXPECT_TRUE(batch.empty());
  for (auto& reply : replies) {
    EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  }
  const auto attempts = wait_for_attempts(replies.size());
  ASSERT_EQ(attempts.size(), replies.size());
  for (const core::StartAttempt& attempt : attempts) {
    EXPECT_EQ(tenant_in(attempt.partition.value()), attempt.tenant);
    const auto message = engines_->durable_view(attempt.tenant)->get<core::Message>(attempt.id.seq);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->id, attempt.id);
  }
  EXPECT_EQ(engines_->durable_views().size(), partitions);
  EXPECT_EQ(engines_->stats().in_flight, replies.size());
}

TEST_F(EnginesTest, AnOutcomeGoesBackToThePartitionThatMadeTheAttempt) {
  open_all();
  for (std::uint16_t i = 0; i < partitions; ++i) {
    published(i);
  }

  for (const core::StartAttempt& attempt : wait_for_attempts(partitions)) {
    const auto done = wait_for(submit(core::CompleteAttempt{.partition = attempt.partition,
                                                            .id = attempt.id,
                                                            .fence = attempt.fence,
                                                            .delivered = true}));

    EXPECT_TRUE(done.has_value()) << error_of(done);
    const auto state =
        engines_->durable_view(attempt.tenant)->get<core::MessageState>(attempt.id.seq);
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->status, core::Status::succeeded);
  }
  EXPECT_EQ(engines_->stats().in_flight, 0U);
}

TEST_F(EnginesTest, AFailedSyncClosesOnePartitionAndTheOthersGoOn) {
  open_all();
  std::array<core::MessageId, partitions> kept{};
  for (std::uint16_t i = 0; i < partitions; ++i) {
    kept[i] = published(i);
  }
  homes_[2].store.close_gate();
  auto in_the_sync = submit(publish(tenant_in(2)));
  homes_[2].store.wait_until_a_sync_waits();
  auto behind_it = submit(publish(tenant_in(2)));  // in a batch of its own, or still in the inbox
  homes_[2].store.with([](store::SimStore& store) { store.fail_next_sync(); });
  homes_[2].store.open_gate();

  EXPECT_EQ(wait_for(std::move(in_the_sync)).error().kind, ErrorKind::unknown_outcome);
  EXPECT_NE(wait_for(std::move(behind_it)).error().kind, ErrorKind::internal);
  ASSERT_TRUE(wait_until_failed(2));
  const auto refused = wait_for(submit(publish(tenant_in(2))));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refused.error().message,
            "partition 2 is closed: its store has failed; nothing was done, try again later");
  EXPECT_THROW(engines_->durable_view(tenant_in(2)), PartitionUnavailable);
  EXPECT_THROW(engines_->durable_views(), PartitionUnavailable);
  std::vector<Submission> outcome;  // nobody waits for it: it is not kept for ever
  outcome.push_back({core::CompleteAttempt{.partition = at(2), .id = kept[2]}, {}, nullptr});
  engines_->submit(outcome);
  EXPECT_TRUE(outcome.empty());
  for (const auto other : std::array<std::uint16_t, 3>{0, 1, 3}) {
    const core::MessageId more = published(other);
    EXPECT_NE(engines_->durable_view(tenant_in(other))->get<core::Message>(more.seq), nullptr);
  }
  EXPECT_EQ(failed_.size(), 1U);

  engines_->close(at(2));
  lose_power(2);
  ASSERT_TRUE(open(2).has_value());
  for (std::uint16_t i = 0; i < partitions; ++i) {
    EXPECT_NE(engines_->durable_view(tenant_in(i))->get<core::Message>(kept[i].seq), nullptr) << i;
  }
  EXPECT_TRUE(wait_for(submit(publish(tenant_in(2)))).has_value());
}

TEST_F(EnginesTest, ClosingExecutesWhatWasTakenAndRefusesTheRest) {
  open_all();
  std::vector<std::future<core::Reply>> replies;
  for (int i = 0; i < 50; ++i) {
    replies.push_back(submit(publish(tenant_in(1))));
  }

  engines_->close(at(1));

  for (auto& reply : replies) {
    EXPECT_TRUE(wait_for(std::move(reply)).has_value());
  }
  EXPECT_EQ(homes_[1].store.with([](store::SimStore& store) { return store.last_synced(); }),
            homes_[1].store.last_written());
  const auto refused = wait_for(submit(publish(tenant_in(1))));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "partition 1 is closed: it was taken out of service; nothing was done, try again "
            "later");
  EXPECT_EQ(engines_->durable_views().size(), partitions - 1U);
  EXPECT_TRUE(wait_for(submit(publish(tenant_in(0)))).has_value());
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EnginesTest, TheOnlyOneThatIsLeftIsNotAskedForTenantsOfAnother) {
  open_all();
  for (const auto other : std::array<std::uint16_t, 3>{0, 1, 2}) {
    engines_->close(at(other));
  }

  EXPECT_EQ(wait_for(submit(publish(tenant_in(1)))).error().kind, ErrorKind::unavailable);
  EXPECT_THROW(engines_->durable_view(tenant_in(1)), PartitionUnavailable);
  EXPECT_TRUE(wait_for(submit(publish(tenant_in(3)))).has_value());
}

TEST_F(EnginesTest, ATenantWithoutAnIdGetsOneThatNobodyHasInTheLowestPartition) {
  open_all();
  engines_->close(at(0));

  const auto made = wait_for(submit(core::UpsertTenant{{.name = "new"}}));

  ASSERT_TRUE(made.has_value()) << error_of(made);
  const core::TenantId id = made->get<core::TenantStored>().id;
  EXPECT_EQ(id, core::TenantId{14});
  EXPECT_TRUE(wait_for(submit(publish(id))).has_value());
  const auto attempts = wait_for_attempts(1);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].partition, at(1));
}

TEST_F(EnginesTest, ATenantIsInOnePartition) {
  open_all();

  EXPECT_EQ(engines_->assign(tenant_in(1), at(2)).error().kind, ErrorKind::conflict);
  EXPECT_TRUE(engines_->assign(tenant_in(1), at(1)).has_value());
  EXPECT_EQ(engines_->assign(core::TenantId{99}, at(9)).error().kind, ErrorKind::not_found);
  EXPECT_EQ(wait_for(submit(publish(core::TenantId{99}))).error().kind, ErrorKind::unavailable);
  EXPECT_THROW(engines_->durable_view(core::TenantId{99}), PartitionUnavailable);

  const auto again = engines_->open(at(7), homes_[1].store, homes_[1].clock, homes_[1].rng);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message, "tenant 11 is in partition 1 and in partition 7");
  EXPECT_EQ(open(1).error().kind, ErrorKind::conflict);
}

TEST_F(EnginesTest, OnePartitionNumbersItsTenantsItself) {
  make();
  ASSERT_TRUE(open(0).has_value());

  const auto made = wait_for(submit(core::UpsertTenant{{.name = "default"}}));

  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->get<core::TenantStored>().id, core::TenantId{1});
  EXPECT_TRUE(wait_for(submit(publish(core::TenantId{1}))).has_value());
  EXPECT_EQ(wait_for(submit(publish(core::TenantId{2}))).error().kind, ErrorKind::not_found);
  EXPECT_NE(engines_->durable_view(core::TenantId{1}), nullptr);
}

TEST_F(EnginesTest, APartitionThatCannotBeOpenedIsNoneOfTheOthersBusiness) {
  make();
  ASSERT_TRUE(open(0).has_value());
  homes_[1].store.with([](store::SimStore& store) { store.fail_next_write(); });

  EXPECT_FALSE(open(1).has_value());

  EXPECT_TRUE(wait_for(submit(core::UpsertTenant{{.name = "default"}})).has_value());
  lose_power(1);
  EXPECT_TRUE(open(1).has_value());
}

TEST_F(EnginesTest, PartitionsShareThePlacesOfTheNode) {
  core::Limits limits;
  limits.global_parallelism = 8;
  limits.share = 1000;  // one tenant may have them all
  open_all(limits);
  for (int i = 0; i < 20; ++i) {
    published(0);
  }
  wait_for_attempts(8);
  EXPECT_LE(engines_->stats().in_flight, 8U);
  published(3);

  // Attempts of the first end; the last one gets its place, and no more than eight ever run.
  std::size_t ended = 0;
  bool other = false;
  while (!other) {
    const auto attempts = wait_for_attempts(ended + 1);
    ASSERT_GT(attempts.size(), ended);
    ASSERT_LE(attempts.size() - ended, 8U);
    const core::StartAttempt& one = attempts[ended++];
    other = one.partition == at(3);
    ASSERT_TRUE(
        wait_for(
            submit(core::CompleteAttempt{
                .partition = one.partition, .id = one.id, .fence = one.fence, .delivered = true}))
            .has_value());
  }
}

TEST_F(EnginesTest, EachPartitionHasAPlaceOrIsNotOpened) {
  core::Limits limits;
  limits.global_parallelism = 1;
  make(limits);
  ASSERT_TRUE(open(0).has_value());

  EXPECT_EQ(open(1).error().kind, ErrorKind::limit_exceeded);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
