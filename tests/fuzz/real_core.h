/// The real core behind the API, without threads: every submission is a batch that is durable at
/// once, in a store in memory. Time stands still unless it is told to pass.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engine/partition.h"
#include "engine/submitter.h"
#include "engine/zone/zone_cache.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"
#include "store/verify.h"

namespace hk::fuzz {

class RealCore final : public engine::Submitter {
 public:
  using Look = std::function<void(const core::Command&)>;  ///< at every command that is submitted
  using RunEffect = std::function<void(core::Effect)>;

  RealCore(Moment begin, Look look, RunEffect run_effect)
      : now_(begin), look_(std::move(look)), run_effect_(std::move(run_effect)) {
    start();
  }

  void submit(std::vector<engine::Submission>& batch) override {
    for (const engine::Submission& one : batch) {
      look_(one.command);
    }
    auto written = partition_->run(now_, batch);
    HK_ASSERT(written.has_value());
    HK_ASSERT(store_.sync().has_value());
    batch.clear();
    publish();
    for (std::size_t i = 0; i < written->answered.size(); ++i) {
      engine::Submission& one = written->answered[i];
      if (one.mailbox == nullptr) {
        HK_ASSERT(written->replies[i].has_value());
      } else {
        std::vector<engine::Finished> finished;
        finished.push_back({std::move(one.done), std::move(written->replies[i])});
        one.mailbox->deliver(std::move(finished));
      }
    }
    for (core::Effect& effect : written->effects) {
      run_effect_(std::move(effect));
    }
  }
  std::shared_ptr<core::Reader> durable_view(core::TenantId /*tenant*/) override { return view_; }
  std::vector<std::shared_ptr<core::Reader>> durable_views() override { return {view_}; }

  void run(core::Command command) {
    std::vector<core::Command> one;
    one.push_back(std::move(command));
    run_all(std::move(one));
  }
  /// Commands of the harness: they must succeed.
  void run_all(std::vector<core::Command> commands) {
    std::vector<engine::Submission> batch(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      batch[i].command = std::move(commands[i]);
    }
    submit(batch);
  }
  /// Time goes on to where the core has something to do, but not beyond `until`. False: it has
  /// nothing to do before.
  bool wake(Moment until = never) {
    const std::optional<Moment> at = partition_->wake_at();
    if (!at || *at > until) {
      return false;
    }
    now_ = std::max(now_, *at);
    run_all({});
    return true;
  }
  void set_time(Moment now) { now_ = std::max(now_, now); }
  [[nodiscard]] Moment now() const { return now_; }

  /// Everything stored obeys the rules between records, and a server can start with it.
  void check_store() {
    const auto report = store::verify(*store_.snapshot());
    HK_ASSERT(report.has_value() && report->ok());
    start();
  }
  static engine::ZoneCache& zones() {
    static engine::ZoneCache zones;
    return zones;
  }

 private:
  void start() {
    partition_ =
        std::make_unique<engine::Partition>(core::Limits{}, store_, rng_, zones(), 1U << 20U);
    HK_ASSERT(partition_->open(now_).has_value());
    HK_ASSERT(store_.sync().has_value());
    publish();
  }
  void publish() { view_ = std::make_shared<store::TypedReader>(store_.snapshot()); }

  Moment now_;
  Look look_;
  RunEffect run_effect_;
  store::SimStore store_;
  SeededRng rng_{1};
  std::unique_ptr<engine::Partition> partition_;
  std::shared_ptr<core::Reader> view_;
};

}  // namespace hk::fuzz
