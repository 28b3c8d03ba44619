/// Gives the disk back what was deleted. RocksDB forgets deleted rows when a compaction happens to
/// pass over them; a store that has been drained is written to no more, so none would. This watches
/// how many rows each table has lost and, when they are many beside what is left, has the keys
/// between the first and the last of them compacted. Owned by the store; note() on the writer's
/// thread, the work on a thread of its own.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "store/rocksdb/database.h"

namespace hk::store {

class Reclaimer {
 public:
  /// Worth it once a table has lost this share of what it holds: rows are rewritten at most so many
  /// times for each one that was deleted.
  static constexpr std::uint64_t share = 4;
  /// With fewer batches between two looks the store is at rest, and its log can go, too.
  static constexpr std::uint64_t calm_batches = 100;

  Reclaimer(Database& database, std::chrono::milliseconds pace, std::uint64_t rows_min);
  ~Reclaimer() { stop(); }
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  /// A batch with these was written. Ranges do not count: how much they held is not known.
  void note(std::span<const Write> writes);
  /// Nothing is under way afterwards: a compaction is given up where it is.
  void stop();

 private:
  /// Rows that went since the last time, and where they were.
  struct Erased {
    std::uint64_t rows = 0;
    std::string first{};
    std::string last{};
  };
  using AllErased = std::array<Erased, table_places>;

  void run();
  [[nodiscard]] bool worth_it(Table table, std::uint64_t rows) const;
  AllErased take_what_is_worth_it();
  void reclaim(const AllErased& erased);
  void give_back_log();

  Database& database_;
  const std::chrono::milliseconds pace_;
  const std::uint64_t rows_min_;

  std::mutex mutex_;
  std::condition_variable wake_;
  AllErased erased_;                       ///< protected by mutex_
  std::atomic<std::uint64_t> batches_{0};  ///< since the last look
  bool log_wanted_ = false;            ///< the thread's own: rows are gone that the log still has
  std::atomic<bool> stopping_{false};  ///< changed under mutex_; RocksDB looks at it, too
  std::thread thread_;
};

}  // namespace hk::store
