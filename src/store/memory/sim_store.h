/// The simulated store: everything in memory, deterministic, with the failures of a real disk on
/// command. For the simulator and for tests; not thread-safe.
///
/// What is written is visible at once and unsynced until sync(). crash() is a power cut: of the
/// unsynced batches a random prefix survives, without holes; a torn batch counts as never written.
/// An error is what store.h says it is: every later call is refused until reopen(), and the batch
/// in doubt may or may not be there then.
///
/// Each key keeps the versions that a live snapshot or a crash may still need, and no others: a
/// snapshot costs O(log of live snapshots), a write O(log of keys).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/store.h"

namespace hk::store {

class SimStore final : public Store {
 public:
  SimStore();
  /// REQUIRES: its readers are gone.
  ~SimStore() override;

  Result<BatchSeq> write(std::span<const Write> batch) override;
  Result<BatchSeq> sync() override;
  std::unique_ptr<Reader> snapshot() override;
  [[nodiscard]] BatchSeq last_written() const override { return last_written_; }

  // ---- what a test can see and do ----

  [[nodiscard]] BatchSeq last_synced() const { return last_synced_; }
  [[nodiscard]] bool refusing() const { return refusal_.has_value(); }

  /// The next write() fails; the log may hold its batch.
  void fail_next_write() { fail_next_write_ = true; }
  /// The next sync() fails; what it should have made durable is as unsynced as before.
  void fail_next_sync() { fail_next_sync_ = true; }
  /// While set, write() is refused with `unavailable`, nothing is written, and the store stops.
  void set_disk_full(bool full) { disk_full_ = full; }

  /// Power cut. Readers made before answer `unavailable` from now on, and so does the store until
  /// reopen(). Returns the last batch that survived.
  BatchSeq crash(Rng& rng);
  /// Power cut that keeps exactly the batches up to `survivor`.
  /// REQUIRES: last_synced() <= survivor <= last_written().
  void crash_at(BatchSeq survivor);
  /// The next start of the process. Without a crash before it the process alone died: nothing that
  /// was written is lost, and a write that failed is there.
  void reopen();

  /// Versions kept beyond the newest of each key; for tests of pruning.
  [[nodiscard]] std::size_t old_versions() const;
  [[nodiscard]] std::size_t keys() const;

 private:
  class SnapshotReader;
  struct Version {
    BatchSeq batch = 0;
    std::optional<std::string> value{};  ///< nullopt: erased
  };
  struct Node {
    Version latest{};
    std::vector<Version> older{};  ///< ascending by batch
    std::uint32_t marks = 0;       ///< entries of stale_ that point here
  };
  using Rows = std::map<std::string, Node, std::less<>>;
  /// A node that got a new version in `batch`: older ones, or the node, can go when nobody needs
  /// what was before that batch.
  struct Stale {
    BatchSeq batch = 0;
    Table table{};
    Rows::iterator row{};
  };

  Rows& rows(Table table) { return tables_[static_cast<std::size_t>(table)]; }
  Result<BatchSeq> refuse(ErrorKind kind, std::string why);
  void apply(std::span<const Write> batch);
  void set(Table table, Rows::iterator row, std::optional<std::string> value, BatchSeq batch);
  void release(BatchSeq batch);
  [[nodiscard]] BatchSeq oldest_needed() const;
  void prune();
  static const Version* version_at(const Node& node, BatchSeq batch);

  Rows tables_[table_places];
  BatchSeq last_written_ = 0;
  BatchSeq last_synced_ = 0;
  std::deque<Stale> stale_;                    ///< ascending by batch
  std::map<BatchSeq, std::size_t> snapshots_;  ///< live readers of this life
  std::uint64_t life_ = 0;                     ///< one more at each crash
  std::optional<Error> refusal_;
  std::vector<Write> in_doubt_;  ///< the batch of a failed write
  bool fail_next_write_ = false;
  bool fail_next_sync_ = false;
  bool disk_full_ = false;
};

}  // namespace hk::store
