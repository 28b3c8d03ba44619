/// A RocksDB snapshot as store::Reader: every value is checked against its guard. From any thread.
#pragma once

#include <atomic>

#include "store/rocksdb/database.h"

namespace hk::store {

class SnapshotReader final : public Reader {
 public:
  /// `live` counts the readers of the store, which must outlive them.
  SnapshotReader(Database& database, std::atomic<std::size_t>& live);
  ~SnapshotReader() override;

  Result<std::optional<std::string>> get(Table table, std::string_view key) override;
  Result<std::vector<std::optional<std::string>>> get_many(
      Table table, std::span<const std::string> keys) override;
  Result<std::vector<Entry>> scan(Table table, std::string_view from, std::string_view to,
                                  std::size_t limit, bool reverse) override;

 private:
  Database& database_;
  std::atomic<std::size_t>& live_;
  const rocksdb::Snapshot* const snapshot_;
};

}  // namespace hk::store
