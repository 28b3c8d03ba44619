/// A partition with its threads. The core thread drains the inbox into batches and writes them; the
/// sync thread makes everything written durable in one go and only then releases replies and
/// effects. While it syncs, the core goes on with at most one further batch, so that batches grow
/// under load by themselves.
///
/// Fail-stop: when the store cannot write or sync, every command that was executed is answered
/// `unknown_outcome`, nothing more is accepted, and on_fatal is told. It cannot be started again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/clock.h"
#include "engine/inbox.h"
#include "engine/partition.h"
#include "engine/places.h"
#include "engine/submitter.h"
#include "engine/zone/zone_cache.h"

namespace hk::engine {

struct EngineStats {
  std::uint64_t batches = 0;
  std::uint64_t commands = 0;
  std::uint64_t syncs = 0;
  std::uint64_t inbox = 0;          ///< commands that wait
  std::uint64_t inbox_bytes = 0;    ///< of messages to publish, from being taken to being written
  std::uint64_t inbox_refused = 0;  ///< commands that found no room
  std::uint64_t in_flight = 0;
  std::uint64_t in_memory = 0;
  std::uint64_t lanes = 0;

  EngineStats& operator+=(const EngineStats& other) {
    batches += other.batches;
    commands += other.commands;
    syncs += other.syncs;
    inbox += other.inbox;
    inbox_bytes += other.inbox_bytes;
    inbox_refused += other.inbox_refused;
    in_flight += other.in_flight;
    in_memory += other.in_memory;
    lanes += other.lanes;
    return *this;
  }
};

struct EngineOptions {
  core::PartitionId partition{};
  core::Limits limits{};
  std::size_t inbox_max = 16'384;
  /// Of messages to publish; what else is submitted is small and passes. One message always fits.
  std::size_t inbox_bytes_max = 256U << 20U;
  std::size_t commands_per_batch = 512;
  std::size_t unsynced_batches_max = 2;
  std::size_t cache_bytes = 64U << 20U;
  /// Shared by all engines that are made with a copy of these options, and by who checks a zone
  /// before a command.
  std::shared_ptr<ZoneCache> zones = std::make_shared<ZoneCache>();
  /// Called on the core thread. Empty: no queue pushes.
  core::PushHosts push_hosts{};
  /// Called on the core thread. Empty: the keys of ledger books are stored as they are.
  core::Sealing sealing{};
  /// Called on the sync thread with what is now justified.
  std::function<void(std::vector<core::Effect>)> run_effects{};
  /// Called once, on its own thread's last breath.
  std::function<void(Error)> on_fatal{};
  /// Called on the sync thread with what a durable batch settled.
  std::function<void(const Outcomes&)> on_outcomes{};
  /// Called on the core thread after each batch.
  std::function<void(const Places::Use&)> on_places{};
  /// Called after each sync: seconds it took, batches and bytes that it covered.
  std::function<void(double, std::uint64_t, std::uint64_t)> on_commit{};
};

class Engine final {
 public:
  Engine(EngineOptions options, store::Store& store, Clock& clock, Rng& rng);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Recovers the partition and starts the threads; the clock begins no earlier than it had come.
  Result<void> start(const core::Term& term = {});
  /// Before start().
  [[nodiscard]] Result<std::vector<core::TenantId>> stored_tenants() const {
    return partition_.stored_tenants();
  }

  /// As Submitter::submit().
  void submit(std::vector<Submission>& batch);
  /// What is durable; null before start() and after stop(). Any thread.
  std::shared_ptr<core::Reader> durable_view();

  /// Its share of the node's places for attempts; all of the limit until then. Any thread.
  void set_places(std::uint32_t places);
  /// Where the core finds time zones, for who checks one before a command. Any thread.
  ZoneCache& zones() { return *options_.zones; }

  /// A drain begins: nothing new starts, receivers' waits end; commands are still taken.
  void stop_starting();
  /// Executes what is in the inbox, syncs, ends the threads. Later submissions are refused.
  void stop();
  [[nodiscard]] EngineStats stats() const;

 private:
  struct Pending {
    Partition::Written written{};
  };

  void run_core();
  void run_sync(std::uint64_t durable);
  void release(std::vector<Pending>& done);
  void answer_unsynced();
  void answer_unknown(std::vector<Submission>& submissions);
  void fail_stop(const Error& error);
  void publish_stats(std::size_t commands);

  const EngineOptions options_;
  store::Store& store_;
  Clock& clock_;
  Partition partition_;  ///< the core thread's, after start()

  mutable std::mutex inbox_mutex_;
  std::condition_variable inbox_filled_;
  Inbox inbox_;
  std::uint64_t inbox_refused_ = 0;
  bool inbox_closed_ = false;
  bool core_sleeps_ = false;
  bool starts_stopped_ = false;
  std::uint32_t places_;

  std::mutex sync_mutex_;
  std::condition_variable sync_filled_;   ///< for the sync thread
  std::condition_variable sync_drained_;  ///< for the core thread
  std::vector<Pending> to_sync_;
  std::size_t unsynced_ = 0;  ///< batches handed over and not yet released
  bool sync_closed_ = false;

  std::atomic<bool> failed_{false};
  std::once_flag fatal_once_;
  std::shared_ptr<core::Reader> durable_view_;  ///< std::atomic_load / std::atomic_store only

  mutable std::mutex stats_mutex_;
  EngineStats stats_;

  std::thread core_thread_;
  std::thread sync_thread_;
};

}  // namespace hk::engine
