#include "store/rocksdb/settings.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "store/rocksdb/file_checksum.h"

namespace hk::store {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

/// Read by key, often for keys that are not there.
bool read_by_key(Table table) {
  return table == Table::message || table == Table::state || table == Table::dedup ||
         table == Table::idempotency || table == Table::ledger_account ||
         table == Table::ledger_name || table == Table::webhook_application ||
         table == Table::webhook_event || table == Table::webhook_name ||
         table == Table::webhook_token || table == Table::source_name ||
         table == Table::source_event;
}

/// Entries come and go like in a queue: what was deleted must not slow down the scan past it.
bool queue_like(Table table) {
  return table == Table::lane || table == Table::expiry || table == Table::schedule_due ||
         table == Table::delayed || table == Table::timer;
}

ColumnFamilyOptions table_options(const RocksDbOptions& options,
                                  const std::shared_ptr<rocksdb::Cache>& cache, bool filter) {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = cache;
  blocks.block_size = std::size_t{8} << 10U;
  blocks.format_version = 5;
  // Charged to the cache: otherwise indexes and filters grow with the backlog.
  blocks.cache_index_and_filter_blocks = true;
  blocks.cache_index_and_filter_blocks_with_high_priority = true;
  blocks.pin_l0_filter_and_index_blocks_in_cache = true;
  if (filter) {
    blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  }

  ColumnFamilyOptions table;
  table.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  // The limit on all tables together (WriteBufferManager) is what triggers flushes.
  table.write_buffer_size = options.write_buffer_bytes;
  table.max_write_buffer_number = 4;
  table.arena_block_size = std::size_t{64} << 10U;
  table.level_compaction_dynamic_level_bytes = true;
  // What is young is soon gone or rewritten: compressing it would be wasted work.
  table.compression = rocksdb::kNoCompression;
  table.compression_per_level = {rocksdb::kNoCompression, rocksdb::kNoCompression,
                                 rocksdb::kLZ4Compression};
  table.force_consistency_checks = true;
  return table;
}

}  // namespace

SharedMemory::SharedMemory(std::size_t block_cache_bytes, std::size_t write_buffer_bytes) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = std::max(block_cache_bytes, write_buffer_bytes * 3 / 2);
  cache.num_shard_bits = 2;
  cache.high_pri_pool_ratio = 0.3;
  cache_ = rocksdb::NewLRUCache(cache);
  buffers_ = std::make_shared<rocksdb::WriteBufferManager>(write_buffer_bytes, cache_);
}

std::shared_ptr<SharedMemory> share_memory(std::size_t block_cache_bytes,
                                           std::size_t write_buffer_bytes) {
  return std::make_shared<SharedMemory>(block_cache_bytes, write_buffer_bytes);
}

Settings make_settings(const RocksDbOptions& options, rocksdb::Env* env) {
  Settings settings;
  const auto memory = options.memory != nullptr
                          ? options.memory
                          : share_memory(options.block_cache_bytes, options.write_buffer_bytes);
  settings.cache = memory->cache();

  DBOptions& db = settings.db;
  db.env = env;
  db.create_if_missing = true;
  db.create_missing_column_families = true;

  // Safety: see unsafe_setting().
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.paranoid_checks = true;
  db.avoid_flush_during_recovery = false;
  db.recycle_log_file_num = 0;
  db.unordered_write = false;
  db.two_write_queues = false;
  db.manual_wal_flush = false;
  db.wal_compression = rocksdb::kNoCompression;
  db.file_checksum_gen_factory = make_file_checksums();
  db.allow_mmap_writes = false;
  db.verify_sst_unique_id_in_manifest = true;

  // Memory and CPU: two background threads, buffers and blocks in one budget, a short log.
  db.write_buffer_manager = memory->buffers();
  db.max_total_wal_size = options.write_buffer_bytes * 2;
  db.max_background_jobs = 2;
  db.max_subcompactions = 1;
  db.max_open_files = options.open_files_max;
  db.max_file_opening_threads = 2;
  db.bytes_per_sync = std::uint64_t{1} << 20U;
  db.allow_concurrent_memtable_write = false;  // there is one writer
  db.enable_write_thread_adaptive_yield = false;
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;

  settings.own = table_options(options, settings.cache, false);
  for (const Table table : all_tables) {
    ColumnFamilyOptions& out = settings.tables[static_cast<std::size_t>(table)];
    out = table_options(options, settings.cache, read_by_key(table));
    if (table == Table::message) {
      out.arena_block_size = std::size_t{512} << 10U;
    }
    if (table == Table::message || table == Table::webhook_event || table == Table::quarantine) {
      out.enable_blob_files = true;
      out.min_blob_size = options.blob_bytes_min;
      out.enable_blob_garbage_collection = true;
      out.blob_file_size = std::uint64_t{64} << 20U;
    }
    if (queue_like(table)) {
      out.table_properties_collector_factories.push_back(
          rocksdb::NewCompactOnDeletionCollectorFactory(4096, 2048));
    }
  }
  return settings;
}

std::optional<std::string> unsafe_setting(const DBOptions& db) {
  // Tail-tolerant: a flipped bit is refused, a torn tail accepted. RocksDB's default mode silently
  // drops acknowledged records behind a flipped bit.
  if (db.wal_recovery_mode != rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords) {
    return "wal_recovery_mode";
  }
  if (!db.paranoid_checks) {
    return "paranoid_checks";
  }
  // After a failed sync the kernel may call lost pages clean: what recovery read must be rewritten.
  if (db.avoid_flush_during_recovery) {
    return "avoid_flush_during_recovery";
  }
  // In a recycled log an old record can pass for a new one.
  if (db.recycle_log_file_num != 0) {
    return "recycle_log_file_num";
  }
  if (db.unordered_write) {
    return "unordered_write";
  }
  if (db.two_write_queues) {
    return "two_write_queues";
  }
  // Bytes must be in the file, not in a buffer, when sync() is called.
  if (db.manual_wal_flush) {
    return "manual_wal_flush";
  }
  if (db.wal_compression != rocksdb::kNoCompression) {
    return "wal_compression";
  }
  if (db.file_checksum_gen_factory == nullptr) {
    return "file_checksum_gen_factory";
  }
  if (db.allow_mmap_writes) {
    return "allow_mmap_writes";
  }
  return std::nullopt;
}

std::optional<std::string> unsafe_setting(const ColumnFamilyOptions& table) {
  if (!table.force_consistency_checks) {
    return "force_consistency_checks";
  }
  return std::nullopt;
}

rocksdb::ReadOptions read_options() {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.background_purge_on_iterator_cleanup = true;
  return options;
}

}  // namespace hk::store
