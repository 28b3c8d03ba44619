/// The open partitions of this process. Each has an engine, a store, a clock and a fate of its own:
/// when one fails it is closed, and the others go on. Commands and reads go to the partition of
/// their tenant, outcomes of attempts to the one that made the attempt.
///
/// Which partition has a tenant is read from the stores when they are opened, and learnt from
/// TenantChanged; one that is to be created elsewhere than in the first partition is assigned
/// before. With one partition everything goes straight to it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "engine/places.h"
#include "engine/submitter.h"

namespace hk::engine {

struct EnginesOptions {
  /// Of each partition; its limit of places is for all of them together. run_effects, on_outcomes
  /// and on_commit are called from the sync threads of all. REQUIRES: no on_fatal, no on_places.
  EngineOptions engine{};
  /// Called once for a partition that fails, on one of its threads. Its commands and reads are
  /// refused by then. What it may not do: close() or open() a partition.
  std::function<void(core::PartitionId, const Error&)> on_fatal{};
};

class Engines final : public Submitter {
 public:
  explicit Engines(EnginesOptions options);
  ~Engines() override;

  /// Recovers the partition and starts its engine. Store, clock and randomness are its own and
  /// outlive it. conflict: it is open already, one of its tenants is in another partition, or the
  /// term is not one for it (core/progress.h). limit_exceeded: there is no place for attempts for
  /// each partition. One that was closed can be opened again.
  /// One at a time, with close(): from one thread.
  Result<void> open(core::PartitionId id, store::Store& store, Clock& clock, Rng& rng,
                    const core::Term& term = {});
  /// Refuses what is new, executes what it has taken, syncs and ends. Its tenants stay known, and
  /// what is asked of them is refused. Done, also if it is not open.
  void close(core::PartitionId id);
  /// A tenant that nobody has yet will be created there, by UpsertTenant::create_with_id. conflict:
  /// another partition has it. not_found: no such partition is open.
  Result<void> assign(core::TenantId tenant, core::PartitionId partition);

  /// What is for a partition that is closed is taken and answered `unavailable`.
  void submit(std::vector<Submission>& batch) override;
  std::shared_ptr<core::Reader> durable_view(core::TenantId tenant) override;
  std::vector<std::shared_ptr<core::Reader>> durable_views() override;

  /// Sums.
  [[nodiscard]] EngineStats stats() const;
  /// Where the cores find time zones, for who checks one before a command. Any thread.
  ZoneCache& zones() { return *options_.engine.zones; }

  /// A drain begins: nothing new starts, receivers' waits end; commands are still taken.
  void stop_starting();
  /// Closes all.
  void stop();

 private:
  struct Slot;
  struct Table;

  [[nodiscard]] std::shared_ptr<const Table> table() const;
  void replace(std::shared_ptr<const Table> table);
  Result<void> learn(core::TenantId tenant, core::PartitionId partition);
  void refuse(Slot& slot, const Error& why, bool failed);
  void fail(Slot& slot, const Error& error);
  void share(core::PartitionId id, const Places::Use& use);
  void submit_to_several(const Table& known, std::vector<Submission>& batch);
  void number(core::UpsertTenant& upsert, core::PartitionId partition);

  const EnginesOptions options_;
  std::mutex changing_;                 ///< one writer of the table at a time
  std::shared_ptr<const Table> table_;  ///< std::atomic_load / std::atomic_store only
  std::atomic<bool> sharing_{false};    ///< there is, or was, more than one partition
  std::mutex places_mutex_;
  Places places_;
};

}  // namespace hk::engine
