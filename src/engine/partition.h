/// One partition without its threads: the machine, its store and its cache. Everything that decides
/// is here, so that the simulator runs exactly what the server runs; engine.h adds the inbox, the
/// sync thread and the waiting.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "core/machine.h"
#include "engine/submitter.h"

namespace hk::store {
class Store;
}

namespace hk::engine {

/// What a batch settled, for the metrics.
struct Outcomes {
  std::vector<Millis> delivered_after{};  ///< since acceptance, of each message that was delivered
  std::uint64_t retried = 0;              ///< retries planned
  std::uint64_t dead_lettered = 0;
  std::uint64_t called_back = 0;          ///< callbacks made
  std::uint64_t schedules_run = 0;        ///< runs that made their messages
  std::uint64_t schedule_run_errors = 0;  ///< runs that made none
};

class Partition {
 public:
  Partition(const core::Limits& limits, store::Store& store, Rng& rng, core::Zones& zones,
            std::size_t cache_bytes, core::PartitionId id = {}, core::PushHosts push_hosts = {},
            core::Sealing sealing = {});
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  /// The time below which this partition's clock must not start.
  [[nodiscard]] Result<Moment> stored_time() const;
  /// Whom it has. Before open().
  [[nodiscard]] Result<std::vector<core::TenantId>> stored_tenants() const;
  /// Rebuilds memory and writes the new epoch. Once, before run(). corruption: a record is broken.
  /// conflict: as Progress::recover().
  Result<void> open(Moment now, const core::Term& term = {});

  struct Written {
    std::uint64_t batch = 0;             ///< everything below must wait until this batch is durable
    std::vector<Submission> answered{};  ///< the commands, spent; also earlier ones that waited
    std::vector<core::Reply> replies{};  ///< one for each of `answered`
    std::vector<core::Effect> effects{};
    Outcomes outcomes{};
    std::size_t mutations = 0;
    std::size_t bytes = 0;
  };
  /// Executes the commands as one batch, writes it and takes them over; the last ones stay in
  /// `commands` when it is full before, for the next batch. An error means that the outcome is
  /// unknown: stop; all submissions are left with the caller then, to be answered so.
  Result<Written> run(Moment now, std::vector<Submission>& commands);
  /// How many commands the last run() came to.
  [[nodiscard]] std::size_t executed() const { return executed_; }

  [[nodiscard]] std::optional<Moment> wake_at() const;
  [[nodiscard]] const core::Machine& machine() const { return *machine_; }
  /// Those that were run and have no reply yet. The caller answers them.
  std::vector<Submission> take_waiting();
  /// Lets go of what the last batch read, so that the store can be closed.
  void forget_view();
  /// Its share of the node's places for attempts, from the next run() on.
  void set_places(std::uint32_t places) { machine_->set_places(places); }
  /// From now on nothing new starts or is handed out; what runs may end.
  void stop_starting() { machine_->stop_starting(); }

 private:
  class BatchReader;
  Result<void> write(core::Batch::Output& output, Written& written);
  void settle_late(std::vector<core::Batch::Late> late, Written& written);
  void note(const core::Put<core::MessageState>& put, Outcomes& outcomes);
  static void note(const core::Put<core::ScheduleState>& put,
                   const core::KeyOf<core::ScheduleDue>& left, Outcomes& outcomes);

  store::Store& store_;
  std::unique_ptr<BatchReader> reader_;
  std::unique_ptr<core::Machine> machine_;
  std::uint64_t last_batch_ = 0;
  std::size_t executed_ = 0;
  std::map<core::ReceiverId, Submission> waiting_;  ///< receives without their reply
};

}  // namespace hk::engine
