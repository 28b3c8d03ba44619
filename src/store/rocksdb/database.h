/// The open RocksDB database with a column family per table and one for the store's own records.
/// Shared by the store and the checks around it; owns everything that must outlive the database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "store/rocksdb/chain.h"
#include "store/rocksdb/settings.h"
#include "store/rocksdb/witness_file.h"

namespace hk::store {

/// What RocksDB said, for a person, with a kind.
Error to_error(const rocksdb::Status& status, std::string_view doing);
inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class Database {
 public:
  /// Creates what is missing.
  static Result<std::unique_ptr<Database>> open(const RocksDbOptions& options);
  /// For looking into a checkpoint; writes nothing into it.
  static Result<std::unique_ptr<Database>> open_read_only(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] rocksdb::DB& db() const { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* table(Table table) const {
    return tables_[static_cast<std::size_t>(table)];
  }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* own() const { return handles_[0]; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  /// Whether an operation on the log failed, on whatever thread: it must not be synced any more.
  [[nodiscard]] bool log_failed() const { return log_failed_->load(); }

  /// The id written at creation; nullopt: creation was cut short.
  Result<std::optional<StoreId>> read_id();
  Result<void> write_id(const StoreId& id);
  /// The chain's links, checked for holes.
  Result<RecoveredChain> read_chain();
  Result<void> close();

 private:
  Database() = default;
  static Result<std::unique_ptr<Database>> open(const RocksDbOptions& options, bool read_only);

  const std::shared_ptr<std::atomic<bool>> log_failed_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<rocksdb::Env> env_;
  Settings settings_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  ///< the store's own, then the tables
  std::array<rocksdb::ColumnFamilyHandle*, table_places> tables_{};
};

}  // namespace hk::store
