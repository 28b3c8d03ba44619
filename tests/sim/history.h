/// What was written, as it was written: a store that passes everything on to the simulated one and
/// keeps the last batch, and the batch decoded back into records for the model to judge. Reads that
/// fail are made here, so that the simulator's own scans of the store below never meet one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/mutation.h"
#include "store/memory/sim_store.h"
#include "store/store.h"

namespace hk::sim {

using Named = std::pair<core::TenantId, std::string>;

struct Decoded {
  std::vector<std::shared_ptr<const core::Message>> messages{};
  /// The last entry of each in the index of lanes; nullopt: taken out.
  std::map<core::Seq, std::optional<core::LaneEntry>> lane_entries{};
  std::map<core::Seq, core::MessageState> states{};  ///< the last one of each
  std::vector<std::pair<core::Seq, core::Attempt>> attempts{};
  std::map<Named, std::optional<core::Dedup>> dedups{};
  std::map<core::DeadLetterKey, bool> dead_letters{};  ///< is it there afterwards?
  std::vector<core::Events> events{};
  std::vector<core::Seq> purged{};
  std::map<Named, std::optional<core::Queue>> queues{};  ///< nullopt: gone
  std::map<Named, std::optional<core::FlowKey>> flow_keys{};
  std::map<Named, std::optional<core::Topic>> url_groups{};  ///< nullopt: deleted
  /// By namespace, NUL and key; nullopt: gone.
  std::map<Named, std::optional<core::IdempotencyKey>> keys{};
  std::map<Named, std::optional<core::Source>> sources{};
  std::map<core::KeyOf<core::SourceEvent>, std::optional<core::SourceEvent>> source_events{};
  std::map<core::KeyOf<core::Quarantined>, std::optional<core::Quarantined>> quarantined{};
  std::vector<core::Timer> timers_set{};
  std::vector<core::Timer> timers_gone{};
  std::map<Named, std::optional<core::Schedule>> schedules{};
  std::map<Named, std::optional<core::ScheduleState>> schedule_states{};
  std::map<core::KeyOf<core::Task>, std::optional<core::Task>> tasks{};
  std::map<core::TenantId, core::Tenant> tenants{};
  std::map<core::TenantId, core::Counters> counters{};
  // Of the ledger: rows as they are afterwards; nullopt: gone.
  std::map<Named, core::ledger::Book> ledger_books{};
  std::map<std::tuple<core::TenantId, core::ledger::BookNumber, std::uint64_t>,
           core::ledger::Record>
      ledger_records{};
  std::map<core::KeyOf<core::ledger::Account>, core::ledger::Account> ledger_accounts{};
  std::map<core::KeyOf<core::ledger::Outcome>, core::ledger::Outcome> ledger_outcomes{};
  std::map<core::KeyOf<core::ledger::OpenHold>, bool> ledger_holds{};
  std::map<core::KeyOf<core::ledger::Monitor>, std::optional<core::ledger::Monitor>>
      ledger_monitors{};
  std::optional<core::Meta> meta{};
  std::size_t writes = 0;
};

/// Throws Violation when a record cannot be read back.
Decoded decode(std::span<const store::Write> batch);

class RecordingStore final : public store::Store {
 public:
  explicit RecordingStore(store::SimStore& below) : below_(below) {}

  Result<store::BatchSeq> write(std::span<const store::Write> batch) override;
  Result<store::BatchSeq> sync() override { return below_.sync(); }
  std::unique_ptr<store::Reader> snapshot() override;
  [[nodiscard]] store::BatchSeq last_written() const override { return below_.last_written(); }

  /// What was given to write() since the last call.
  std::vector<store::Write> take();
  /// Asked before each write; true: the server dies there, and nothing of the batch is written.
  std::function<bool()> dies_before_write{};

  /// Of the reads of the server the n-th from now on fails, once; 0: none does.
  void fail_read(std::uint64_t nth) { reads_until_failure_ = nth; }
  /// Has one failed since the last call?
  bool take_failed_read() { return std::exchange(read_failed_, false); }

 private:
  class FailingReader;
  store::SimStore& below_;
  std::vector<store::Write> last_;
  std::uint64_t reads_until_failure_ = 0;
  bool read_failed_ = false;
};

}  // namespace hk::sim
