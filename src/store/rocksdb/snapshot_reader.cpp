#include "store/rocksdb/snapshot_reader.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <vector>

#include "store/rocksdb/value_guard.h"
#include "store/table_name.h"

namespace hk::store {
namespace {

std::unexpected<Error> misplaced(Table table, std::string_view key) {
  return fail(ErrorKind::corruption,
              describe_key(table, key) +
                  ": the stored value is not what was written under this key. Stop, check the "
                  "disk, and restore the last backup.");
}

std::uint8_t number_of(Table table) { return static_cast<std::uint8_t>(table); }

/// Of this thread: what RocksDB would count, comparisons above all, nobody reads.
void count_nothing() { rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable); }

}  // namespace

SnapshotReader::SnapshotReader(Database& database, std::atomic<std::size_t>& live)
    : database_(database), live_(live), snapshot_(database.db().GetSnapshot()) {
  live_.fetch_add(1);
}

SnapshotReader::~SnapshotReader() {
  database_.db().ReleaseSnapshot(snapshot_);
  live_.fetch_sub(1);
}

Result<std::optional<std::string>> SnapshotReader::get(Table table, std::string_view key) {
  count_nothing();
  rocksdb::ReadOptions options = read_options();
  options.snapshot = snapshot_;
  rocksdb::PinnableSlice stored;
  const auto status = database_.db().Get(options, database_.table(table), key, &stored);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot read " + describe_key(table, key)));
  }
  std::string_view value;
  if (!check_guard(number_of(table), key, view(stored), value)) {
    return misplaced(table, key);
  }
  return std::string(value);
}

Result<std::vector<std::optional<std::string>>> SnapshotReader::get_many(
    Table table, std::span<const std::string> keys) {
  if (keys.empty()) {
    return std::vector<std::optional<std::string>>{};
  }
  count_nothing();
  rocksdb::ReadOptions options = read_options();
  options.snapshot = snapshot_;
  std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> stored(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  database_.db().MultiGet(options, database_.table(table), slices.size(), slices.data(),
                          stored.data(), statuses.data(), std::ranges::is_sorted(keys));
  std::vector<std::optional<std::string>> values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) {
      continue;
    }
    if (!statuses[i].ok()) {
      return std::unexpected(to_error(statuses[i], "cannot read " + describe_key(table, keys[i])));
    }
    std::string_view value;
    if (!check_guard(number_of(table), keys[i], view(stored[i]), value)) {
      return misplaced(table, keys[i]);
    }
    values[i].emplace(value);
  }
  return values;
}

Result<std::vector<Entry>> SnapshotReader::scan(Table table, std::string_view from,
                                                std::string_view to, std::size_t limit,
                                                bool reverse) {
  std::vector<Entry> out;
  if (limit == 0 || (!to.empty() && to <= from)) {
    return out;
  }
  count_nothing();
  // The bounds keep the iterator from walking over deleted rows outside of the range.
  const rocksdb::Slice lower(from);
  const rocksdb::Slice upper(to);
  rocksdb::ReadOptions options = read_options();
  options.snapshot = snapshot_;
  options.iterate_lower_bound = from.empty() ? nullptr : &lower;
  options.iterate_upper_bound = to.empty() ? nullptr : &upper;
  const std::unique_ptr<rocksdb::Iterator> row(
      database_.db().NewIterator(options, database_.table(table)));
  if (reverse) {
    row->SeekToLast();
  } else {
    row->SeekToFirst();
  }
  while (row->Valid() && out.size() < limit) {
    std::string_view value;
    if (!check_guard(number_of(table), view(row->key()), view(row->value()), value)) {
      return misplaced(table, view(row->key()));
    }
    out.push_back({std::string(view(row->key())), std::string(value)});
    if (out.size() == limit) {
      break;
    }
    if (reverse) {
      row->Prev();
    } else {
      row->Next();
    }
  }
  if (!row->status().ok()) {
    return std::unexpected(to_error(row->status(), "cannot scan " + describe_key(table, from)));
  }
  return out;
}

}  // namespace hk::store
