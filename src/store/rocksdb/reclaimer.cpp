#include "store/rocksdb/reclaimer.h"

#include <algorithm>
#include <vector>

namespace hk::store {

Reclaimer::Reclaimer(Database& database, std::chrono::milliseconds pace, std::uint64_t rows_min)
    : database_(database), pace_(pace), rows_min_(rows_min), thread_([this] { run(); }) {}

void Reclaimer::note(std::span<const Write> writes) {
  batches_.fetch_add(1, std::memory_order_relaxed);
  const auto erases = [](const Write& one) { return one.kind == Write::Kind::erase; };
  auto next = std::ranges::find_if(writes, erases);
  if (next == writes.end()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  for (; next != writes.end(); next = std::find_if(next + 1, writes.end(), erases)) {
    Erased& erased = erased_[static_cast<std::size_t>(next->table)];
    if (erased.rows == 0 || next->key < erased.first) {
      erased.first = next->key;
    }
    if (erased.rows == 0 || next->key > erased.last) {
      erased.last = next->key;
    }
    ++erased.rows;
  }
}

void Reclaimer::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Reclaimer::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, pace_, [this] { return stopping_.load(); })) {
        return;
      }
    }
    const bool calm = batches_.exchange(0, std::memory_order_relaxed) < calm_batches;
    reclaim(take_what_is_worth_it());
    if (calm && log_wanted_) {
      give_back_log();
    }
  }
}

bool Reclaimer::worth_it(Table table, std::uint64_t rows) const {
  if (rows < rows_min_) {
    return false;
  }
  std::uint64_t left = 0;
  database_.db().GetIntProperty(database_.table(table), rocksdb::DB::Properties::kEstimateNumKeys,
                                &left);
  return rows >= left / share;
}

Reclaimer::AllErased Reclaimer::take_what_is_worth_it() {
  std::array<std::uint64_t, table_places> rows{};
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::transform(erased_, rows.begin(), &Erased::rows);
  }
  AllErased taken;
  for (const Table table : all_tables) {
    const auto i = static_cast<std::size_t>(table);
    if (worth_it(table, rows[i])) {  // may wait for RocksDB: without the lock
      const std::scoped_lock lock(mutex_);
      taken[i] = std::exchange(erased_[i], Erased{});
    }
  }
  return taken;
}

void Reclaimer::reclaim(const AllErased& erased) {
  for (const Table table : all_tables) {
    const auto i = static_cast<std::size_t>(table);
    if (stopping_ || erased[i].rows == 0) {
      continue;
    }
    log_wanted_ = true;
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;  // what RocksDB finds urgent goes on beside it
    options.canceled = &stopping_;
    const rocksdb::Slice first(erased[i].first);
    const rocksdb::Slice last(erased[i].last);
    // An error here loses nothing but the room; one that matters is what the next write returns.
    database_.db()
        .CompactRange(options, database_.table(table), &first, &last)
        .PermitUncheckedError();
  }
}

/// The log goes when no table needs it any more.
void Reclaimer::give_back_log() {
  log_wanted_ = false;
  std::vector<rocksdb::ColumnFamilyHandle*> families{database_.own()};
  for (const Table table : all_tables) {
    families.push_back(database_.table(table));
  }
  database_.db().Flush(rocksdb::FlushOptions(), families).PermitUncheckedError();
}

}  // namespace hk::store
