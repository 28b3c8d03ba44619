#include "engine/partition.h"

#include <gtest/gtest.h>

#include "engine/zone/zone_cache.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"

namespace hk::engine {
namespace HK_TEST_FILE {

/// A partition with one tenant, whose batches are run one by one.
class PartitionTest : public ::testing::Test {
 protected:
  void open(const core::Limits& limits) {
    partition_ = std::make_unique<Partition>(limits, store_, rng_, zones_, std::size_t{1} << 20U);
    ASSERT_TRUE(partition_->open(now_).has_value());
    const auto made = run(core::UpsertTenant{{.name = "default"}});
    tenant_ = made.replies.at(0).value().get<core::TenantStored>().id;
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
    return store::TypedReader(store_.snapshot()).scan<core::Message>().size();
  }

  store::SimStore store_;
  SeededRng rng_{1};
  ZoneCache zones_;
  Moment now_{Millis{1'700'000'000'000}};  // a whole second
  core::TenantId tenant_{};
  std::unique_ptr<Partition> partition_;
};

TEST_F(PartitionTest, WhatFindsTheBatchFullIsForTheNext) {
  core::Limits limits;
  limits.batch_bytes = 100;
  open(limits);
  std::vector<Submission> commands;
  for (int i = 0; i < 5; ++i) {
    core::Publish one = publish();
    one.message->body.assign(60, static_cast<char>('a' + i));
    commands.push_back({core::Command{std::move(one)}, {}, nullptr});
  }
  for (const std::size_t left : {3U, 1U, 0U}) {
    const auto written = partition_->run(now_, commands);
    ASSERT_TRUE(written.has_value());
    EXPECT_EQ(commands.size(), left);
    EXPECT_EQ(written->answered.size(), written->replies.size());
    EXPECT_EQ(partition_->executed(), written->replies.size());
  }
  const auto stored = store::TypedReader(store_.snapshot()).scan<core::Message>();
  ASSERT_EQ(stored.size(), 5U);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i]->body.front(), static_cast<char>('a' + i));
  }
}

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

/// A store that stops giving out what it holds.
class FailingStore final : public store::Store {
 public:
  Result<store::BatchSeq> write(std::span<const store::Write> batch) override {
    return store_.write(batch);
  }
  Result<store::BatchSeq> sync() override { return store_.sync(); }
  std::unique_ptr<store::Reader> snapshot() override {
    if (failure) {
      return std::make_unique<FailingReader>(*failure);
    }
    return store_.snapshot();
  }
  [[nodiscard]] store::BatchSeq last_written() const override { return store_.last_written(); }

  std::optional<ErrorKind> failure{};

 private:
  class FailingReader final : public store::Reader {
   public:
    explicit FailingReader(ErrorKind kind) : kind_(kind) {}
    Result<std::optional<std::string>> get(store::Table /*table*/,
                                           std::string_view /*key*/) override {
      return fail(kind_, "what the disk said");
    }
    Result<std::vector<store::Entry>> scan(store::Table /*table*/, std::string_view /*from*/,
                                           std::string_view /*to*/, std::size_t /*limit*/,
                                           bool /*reverse*/) override {
      return fail(kind_, "what the disk said");
    }

   private:
    const ErrorKind kind_;
  };

  store::SimStore store_;
};

TEST(Partition, ADiskThatFailsIsToldFromDamage) {
  struct Row {
    ErrorKind kind;
    ErrorKind told;
  };
  const Row rows[] = {{ErrorKind::unavailable, ErrorKind::internal},
                      {ErrorKind::internal, ErrorKind::internal},
                      {ErrorKind::corruption, ErrorKind::corruption}};
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.kind));
    FailingStore store;
    SeededRng rng{1};
    ZoneCache zones;
    const Moment now{Millis{1'700'000'000'000}};
    Partition running({}, store, rng, zones, std::size_t{1} << 20U);
    ASSERT_TRUE(running.open(now).has_value());

    store.failure = row.kind;
    std::vector<Submission> nothing;
    const auto ran = running.run(now + Millis{2'000}, nothing);
    Partition starting({}, store, rng, zones, std::size_t{1} << 20U);
    const auto time = starting.stored_time();
    const auto opened = starting.open(now);

    ASSERT_FALSE(ran.has_value());
    EXPECT_EQ(ran.error().kind, row.told);
    ASSERT_FALSE(time.has_value());
    EXPECT_EQ(time.error().kind, row.told);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, row.told);
    EXPECT_NE(opened.error().message.find("what the disk said"), std::string::npos);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
