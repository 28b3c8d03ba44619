#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "engine/answer.h"
#include "engine/weight.h"
#include "store/crash_point.h"
#include "store/store.h"
#include "store/typed_reader.h"

namespace hk::engine {

namespace {

constexpr Millis wait_max{1000};  // a wall clock that leans makes a longer sleep inexact
/// What a batch carries beyond its first command, roughly: it is one write, held in memory.
const Error stopping{ErrorKind::unavailable, "the server is shutting down; try again in a moment"};

std::size_t total_weight(const std::vector<Submission>& submissions) {
  return std::transform_reduce(submissions.begin(), submissions.end(), std::size_t{0},
                               std::plus<>{},
                               [](const Submission& one) { return one.weight.carried; });
}

bool changes_tenant(const core::Effect& effect) {
  return std::holds_alternative<core::TenantChanged>(effect);
}

/// Takes the changes of tenants out of a batch's effects.
void take_tenant_changes(std::vector<core::Effect>& effects, std::vector<core::Effect>& changes) {
  if (!std::any_of(effects.begin(), effects.end(), changes_tenant)) {
    return;
  }
  const auto first = std::stable_partition(effects.begin(), effects.end(),
                                           [](const auto& one) { return !changes_tenant(one); });
  std::move(first, effects.end(), std::back_inserter(changes));
  effects.erase(first, effects.end());
}

}  // namespace

Engine::Engine(EngineOptions options, store::Store& store, Clock& clock, Rng& rng)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      partition_(options_.limits, store, rng, *options_.zones, options_.cache_bytes,
                 options_.partition, options_.push_hosts, options_.sealing),
      inbox_(options_.inbox_max, options_.inbox_bytes_max),
      places_(options_.limits.global_parallelism) {}

Engine::~Engine() { stop(); }

Result<void> Engine::start(const core::Term& term) {
  const auto stored = partition_.stored_time();
  if (!stored) {
    return std::unexpected(stored.error());
  }
  clock_.start_at_least(*stored);
  if (auto opened = partition_.open(clock_.now(), term); !opened) {
    return opened;
  }
  store::crash_point(store::CrashPoint::epoch_written);
  if (auto synced = store_.sync(); !synced) {
    return std::unexpected(synced.error());
  }
  store::crash_point(store::CrashPoint::epoch_synced);
  std::atomic_store(&durable_view_, std::shared_ptr<core::Reader>(
                                        std::make_shared<store::TypedReader>(store_.snapshot())));
  publish_stats(0);
  // Asked here: the sync thread may begin when the core has written its first batch already, and
  // would take that for durable.
  const std::uint64_t durable = store_.last_written();
  sync_thread_ = std::thread([this, durable] { run_sync(durable); });
  core_thread_ = std::thread([this] { run_core(); });
  return {};
}

void Engine::submit(std::vector<Submission>& batch) {
  bool wake = false;
  {
    const std::lock_guard lock(inbox_mutex_);
    if (inbox_closed_) {
      return;
    }
    const std::size_t offered = batch.size();
    const std::size_t refused = inbox_.put(batch);
    inbox_refused_ += refused;
    wake = core_sleeps_ && refused < offered;
    if (wake) {
      core_sleeps_ = false;
    }
  }
  if (wake) {
    inbox_filled_.notify_one();
  }
}

std::shared_ptr<core::Reader> Engine::durable_view() { return std::atomic_load(&durable_view_); }

void Engine::run_core() {
  bool stopping_starts = false;
  std::uint32_t places = options_.limits.global_parallelism;
  std::size_t written_bytes = 0;     // of the batch before: the store has them now
  std::vector<Submission> commands;  // also those that found the batch before full
  for (;;) {
    {  // Let the syncer catch up first: what arrives meanwhile joins one larger batch.
      std::unique_lock lock(sync_mutex_);
      sync_drained_.wait(lock,
                         [this] { return unsynced_ < options_.unsynced_batches_max || failed_; });
    }
    bool closed = false;
    bool other_places = false;
    {
      std::unique_lock lock(inbox_mutex_);
      inbox_.written(std::exchange(written_bytes, 0));
      if (commands.empty() && inbox_.empty() && !inbox_closed_ &&
          starts_stopped_ == stopping_starts && places_ == places) {
        const auto wake_at = partition_.wake_at();
        const Millis wait = wake_at ? std::min(*wake_at - clock_.now(), wait_max) : wait_max;
        if (wait > Millis{0}) {
          core_sleeps_ = true;
          inbox_filled_.wait_for(lock, wait, [this, stopping_starts, places] {
            return !inbox_.empty() || inbox_closed_ || failed_ ||
                   starts_stopped_ != stopping_starts || places_ != places;
          });
          core_sleeps_ = false;
        }
      }
      if (commands.empty()) {
        commands = inbox_.take(options_.commands_per_batch, options_.limits.batch_bytes);
      }
      closed = inbox_closed_ && inbox_.empty() && commands.empty();
      if (starts_stopped_ && !stopping_starts) {
        stopping_starts = true;
        partition_.stop_starting();
      }
      other_places = std::exchange(places, places_) != places_;
    }
    if (other_places) {
      partition_.set_places(places);
    }
    if (failed_ || closed) {
      answer_all(commands, stopping);
      break;
    }

    const std::size_t weight = total_weight(commands);
    const Moment now = clock_.now();
    const auto wake_at = partition_.wake_at();
    if (commands.empty() && !other_places && (!wake_at || *wake_at > now)) {
      continue;
    }
    auto written = partition_.run(now, commands);
    if (!written) {
      answer_unknown(commands);
      fail_stop(written.error());
      break;
    }
    written_bytes = weight - total_weight(commands);
    publish_stats(written->answered.size());
    if (options_.on_places) {
      const core::Machine& machine = partition_.machine();
      options_.on_places({places, machine.places(), machine.wants_places()});
    }
    if (written->answered.empty() && written->effects.empty() && written->mutations == 0) {
      continue;
    }
    {
      const std::lock_guard lock(sync_mutex_);
      to_sync_.push_back({std::move(*written)});
      ++unsynced_;
    }
    sync_filled_.notify_one();
  }
  std::vector<Submission> waiting = partition_.take_waiting();
  answer_all(waiting, stopping);
  {
    const std::lock_guard lock(sync_mutex_);
    sync_closed_ = true;
  }
  sync_filled_.notify_one();
}

void Engine::run_sync(std::uint64_t durable) {
  for (;;) {
    std::vector<Pending> pending;
    {
      std::unique_lock lock(sync_mutex_);
      sync_filled_.wait(lock, [this] { return !to_sync_.empty() || sync_closed_; });
      pending.swap(to_sync_);
      if (pending.empty()) {
        return;
      }
    }
    std::uint64_t bytes = 0;
    for (const Pending& one : pending) {
      bytes += one.written.bytes;
    }
    if (pending.back().written.batch > durable) {
      // Taken before the sync: it holds everything that the sync covers and nothing that it may
      // not.
      auto view = std::make_shared<store::TypedReader>(store_.snapshot());
      const auto begin = std::chrono::steady_clock::now();
      const auto synced = store_.sync();
      if (!synced) {
        for (Pending& one : pending) {
          answer_unknown(one.written.answered);
        }
        fail_stop(synced.error());
        answer_unsynced();
        return;
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      durable = pending.back().written.batch;
      HK_ASSERT(*synced >= durable);
      store::crash_point(store::CrashPoint::sync_ended);
      std::atomic_store(&durable_view_, std::shared_ptr<core::Reader>(std::move(view)));
      store::crash_point(store::CrashPoint::view_published);
      if (options_.on_commit) {
        options_.on_commit(took.count(), pending.size(), bytes);
      }
    }
    release(pending);
    {
      const std::lock_guard lock(sync_mutex_);
      unsynced_ -= pending.size();
    }
    sync_drained_.notify_one();
  }
}

/// A sync failed: what the core has written since is not known to be stored either. The core stops
/// at the latest after its next batch, and then says so.
void Engine::answer_unsynced() {
  std::vector<Pending> pending;
  {
    std::unique_lock lock(sync_mutex_);
    sync_filled_.wait(lock, [this] { return sync_closed_; });
    pending.swap(to_sync_);
  }
  for (Pending& one : pending) {
    answer_unknown(one.written.answered);
  }
}

void Engine::release(std::vector<Pending>& done) {
  // Credentials first: whoever has read the answer to their change finds them changed.
  std::vector<core::Effect> tenants;
  for (Pending& one : done) {
    take_tenant_changes(one.written.effects, tenants);
  }
  if (!tenants.empty() && options_.run_effects) {
    options_.run_effects(std::move(tenants));
  }

  for (Pending& one : done) {
    answer(one.written.answered, std::move(one.written.replies));
    if (options_.on_outcomes) {
      options_.on_outcomes(one.written.outcomes);
    }
    store::crash_point(store::CrashPoint::replies_released);
    if (!one.written.effects.empty() && options_.run_effects) {
      options_.run_effects(std::move(one.written.effects));
    }
  }
  store::crash_point(store::CrashPoint::effects_released);
}

void Engine::answer_unknown(std::vector<Submission>& submissions) {
  const Error unknown{ErrorKind::unknown_outcome,
                      "the store could not confirm the write: it may or may not have been stored"};
  answer_all(submissions, unknown);
}

void Engine::fail_stop(const Error& error) {
  failed_ = true;
  std::vector<Submission> left;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_closed_ = true;
    left = inbox_.take(inbox_.size(), std::numeric_limits<std::size_t>::max());
  }
  answer_all(left, stopping);
  inbox_filled_.notify_all();
  {
    const std::lock_guard lock(sync_mutex_);  // the core looks at failed_ under it before it waits
  }
  sync_drained_.notify_all();
  std::call_once(fatal_once_, [&] {
    if (options_.on_fatal) {
      options_.on_fatal(error);
    }
  });
}

void Engine::set_places(std::uint32_t places) {
  {
    const std::lock_guard lock(inbox_mutex_);
    places_ = places;
  }
  inbox_filled_.notify_all();
}

void Engine::stop_starting() {
  {
    const std::lock_guard lock(inbox_mutex_);
    starts_stopped_ = true;
  }
  inbox_filled_.notify_all();
}

void Engine::stop() {
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_closed_ = true;
  }
  inbox_filled_.notify_all();
  if (core_thread_.joinable()) {
    core_thread_.join();
  }
  if (sync_thread_.joinable()) {
    sync_thread_.join();
  }
  std::atomic_store(&durable_view_, std::shared_ptr<core::Reader>());
  partition_.forget_view();  // a start or a batch that failed still holds it
}

void Engine::publish_stats(std::size_t commands) {
  const core::Machine& machine = partition_.machine();
  const std::lock_guard lock(stats_mutex_);
  ++stats_.batches;
  stats_.commands += commands;
  stats_.in_flight = machine.in_flight();
  stats_.in_memory = machine.in_memory();
  stats_.lanes = machine.lanes();
}

EngineStats Engine::stats() const {
  EngineStats stats;
  {
    const std::lock_guard lock(stats_mutex_);
    stats = stats_;
  }
  const std::lock_guard lock(inbox_mutex_);
  stats.inbox = inbox_.size();
  stats.inbox_bytes = inbox_.bytes();
  stats.inbox_refused = inbox_refused_;
  return stats;
}

}  // namespace hk::engine
