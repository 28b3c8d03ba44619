/// RocksDB's options: what safety demands (checked again at every start), and what keeps memory
/// small.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "store/rocksdb/rocksdb_store.h"

namespace hk::store {

class SharedMemory {
 public:
  SharedMemory(std::size_t block_cache_bytes, std::size_t write_buffer_bytes);

  [[nodiscard]] const std::shared_ptr<rocksdb::Cache>& cache() const { return cache_; }
  [[nodiscard]] const std::shared_ptr<rocksdb::WriteBufferManager>& buffers() const {
    return buffers_;
  }

 private:
  std::shared_ptr<rocksdb::Cache> cache_;  ///< write buffers are charged to it
  std::shared_ptr<rocksdb::WriteBufferManager> buffers_;
};

struct Settings {
  rocksdb::DBOptions db{};
  rocksdb::ColumnFamilyOptions own{};  ///< of the store's own records
  std::array<rocksdb::ColumnFamilyOptions, table_places> tables{};
  std::shared_ptr<rocksdb::Cache> cache{};  ///< shared with the options
};

Settings make_settings(const RocksDbOptions& options, rocksdb::Env* env);

/// Bytes of protection per key of every WriteBatch: it notices memory that changed on the way.
inline constexpr std::size_t batch_protection_bytes = 8;

/// The first setting without which acknowledged data could be lost unnoticed; nullopt: all are
/// right.
std::optional<std::string> unsafe_setting(const rocksdb::DBOptions& db);
std::optional<std::string> unsafe_setting(const rocksdb::ColumnFamilyOptions& table);

/// Reads check every block's checksum.
rocksdb::ReadOptions read_options();

}  // namespace hk::store
