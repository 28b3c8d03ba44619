#include "engine/partition.h"

#include <gtest/gtest.h>

#include "engine/zone/zone_cache.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"

namespace hk::engine {
namespace {

/// A partition with one tenant, whose batches are run one by one.
class PartitionTest : public ::testing::Test {
 protected:
  void open(const core::Limits& limits) {
    partition_ = std::make_unique<Partition>(limits, store_, rng_, zones_, std::size_t{1} << 20U);
    ASSERT_TRUE(partition_->open(now_).has_value());
    const auto made = run(core::UpsertTenant{{.name = "default"}});
    tenant_ = std::get<core::TenantStored>(made.replies.at(0).value()).id;
  }
  template <class... Commands>
  Partition::Written run(Commands... commands) {
    std::vector<Submission> batch;
    (batch.push_back({core::Command{std::move(commands)}, {}, nullptr}), ...);
    auto written = partition_->run(now_, batch);
    EXPECT_TRUE(written.has_value());
    return std::move(*written);
  }
  core::Publish publish() {
    auto message = std::make_unique<core::Message>();
    message->tenant = tenant_;
    message->url = "http://receiver/";
    message->host = "http://receiver:80";
    message->timeout = Millis{30'000};
    return {.message = std::move(message)};
  }
  /// Publishes a message and delivers it in the next batch.
  void deliver() {
    const auto written = run(publish());
    const auto& start = std::get<core::StartAttempt>(written.effects.at(0));
    run(core::CompleteAttempt{.id = start.id,
                              .fence = start.fence,
                              .attempt = {.response_status = 200},
                              .delivered = true});
  }
  std::size_t messages_stored() {
    return store::TypedReader(store_.snapshot()).messages_after(core::Seq{}, 1000).size();
  }

  store::SimStore store_;
  SeededRng rng_{1};
  ZoneCache zones_;
  Moment now_{Millis{1'700'000'000'000}};  // a whole second
  core::TenantId tenant_{};
  std::unique_ptr<Partition> partition_;
};

TEST_F(PartitionTest, WhatExpiresAtOnceIsFoundThoughItsTimeWasLookedAtBefore) {
  core::Limits limits;
  limits.retention_finished = Millis{0};
  limits.index_after = Millis{10};
  limits.expiry_poll = Millis{1000};
  open(limits);
  for (int round = 0; round < 3; ++round) {
    run();      // looks for what is over at this moment, and finds nothing
    deliver();  // is over at this moment
    EXPECT_EQ(messages_stored(), 1U);
    now_ += Millis{1000};
    run();
    run();
    now_ += Millis{1000};
    run();
    EXPECT_EQ(messages_stored(), 0U);
  }
}

TEST_F(PartitionTest, WhatExpiresLaterIsFoundWhenItsTimeHasCome) {
  core::Limits limits;
  limits.retention_finished = Millis{60'000};
  limits.index_after = Millis{10};
  limits.expiry_poll = Millis{1000};
  open(limits);
  deliver();
  now_ += Millis{30'000};
  deliver();
  for (int second = 0; second < 29; ++second) {
    now_ += Millis{1000};
    run();
    EXPECT_EQ(messages_stored(), 2U);
  }
  now_ += Millis{2000};
  run();
  EXPECT_EQ(messages_stored(), 1U);
  now_ += Millis{30'000};
  run();
  EXPECT_EQ(messages_stored(), 0U);
}

}  // namespace
}  // namespace hk::engine
