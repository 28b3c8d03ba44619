/// The production store: RocksDB in a directory of its own. Opened by cli/ and tests; write() and
/// sync() are called as store.h says, the rest from any thread. RocksDB's headers stay behind this
/// one.
///
/// What it adds to RocksDB, because RocksDB alone cannot tell a cut log from a short one:
///   - every batch carries its number and a chain hash over everything before it (chain.h);
///   - the file WITNESS says which batch was acknowledged last (witness_file.h). A directory whose
///     log does not reach it, or reaches it by another history, is refused;
///   - every value carries a checksum over table, key and value (value_guard.h), so that a value
///   that
///     belongs elsewhere is not served.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/store.h"

namespace rocksdb {
class FileSystem;
}

namespace hk::store {

/// The memory of several stores in one process: one cache of blocks, one budget of write buffers.
/// (Background threads are RocksDB's own and shared by all stores as it is.)
class SharedMemory;
/// Sizes as in RocksDbOptions, for all of them together.
std::shared_ptr<SharedMemory> share_memory(std::size_t block_cache_bytes,
                                           std::size_t write_buffer_bytes);

struct RocksDbOptions {
  std::string path{};
  bool create = true;  ///< make the directory if there is none
  /// Tests of power cuts: what was not synced stays in this process's memory and dies with it.
  bool hold_unsynced = false;
  /// Tests of failing and recorded file operations: what RocksDB's files lie on, instead of the
  /// disk.
  std::shared_ptr<rocksdb::FileSystem> files{};
  /// Blocks read, indexes, filters and write buffers together.
  std::size_t block_cache_bytes = std::size_t{96} << 20U;
  /// Of all tables together; also bounds the log that a restart reads (twice this).
  std::size_t write_buffer_bytes = std::size_t{48} << 20U;
  /// Instead of cache and buffers of its own. Null: its own, of the sizes above.
  std::shared_ptr<SharedMemory> memory{};
  int open_files_max = 512;
  /// A body of at least this size is kept apart and not rewritten by compaction.
  std::size_t blob_bytes_min = 4096;
  /// Room is given back by compaction once a table has lost so many rows, and a quarter of what it
  /// holds; looked at in these intervals (reclaimer.h).
  std::uint64_t reclaim_rows_min = 20'000;
  std::chrono::milliseconds reclaim_pace{10'000};
  /// The operator's word that batches are lost: open although the witness names a later batch, if
  /// the last recovered one is exactly this. Not to be left set: it fits one loss only.
  std::optional<BatchSeq> accept_loss_after{};
};

struct StoreStats {
  std::uint64_t disk_bytes = 0;  ///< tables, blobs and log
  std::uint64_t log_bytes = 0;
  std::uint64_t memtable_bytes = 0;
  std::uint64_t block_cache_bytes = 0;
  std::uint64_t pending_compaction_bytes = 0;
  std::uint64_t snapshots = 0;
  bool stalled = false;  ///< writes are slowed down or stopped until compaction catches up
  BatchSeq last_written = 0;
  BatchSeq last_synced = 0;
  BatchSeq witnessed = 0;
};

class DurableStore : public Store {
 public:
  /// A backup: a directory that open_rocksdb() accepts, with every batch synced before the call.
  /// The checksums of all files are read first. conflict: the directory exists, or something that
  /// is not an unfinished backup has its name with ".partial". corruption: a file of ours is not
  /// what was written.
  Result<void> checkpoint(const std::string& dir) { return checkpoint(dir, {}); }
  /// The same with files of the caller's: `add` puts them, durably, into the directory that it is
  /// given, which is not a backup yet. What bears its name has them all.
  using AddFiles = std::function<Result<void>(const std::string& unfinished)>;
  virtual Result<void> checkpoint(const std::string& dir, const AddFiles& add) = 0;
  /// Reads every file and compares its checksum.
  virtual Result<void> scrub() = 0;
  virtual StoreStats stats() = 0;
  /// Writes the files of a table anew: what was overwritten in it is in none of them any more.
  virtual Result<void> rewrite(Table table) = 0;
  /// Syncs, brings the witness level and closes. Later calls are refused. REQUIRES: no readers.
  virtual Result<void> close() = 0;
};

/// not_found: no such directory and !create. permission_denied: not readable or not writable.
/// conflict: in use by another process, or of a newer format. invalid_argument: not a data
/// directory. corruption: acknowledged data is missing or damaged. unavailable: the disk is full.
Result<std::unique_ptr<DurableStore>> open_rocksdb(const RocksDbOptions& options);

}  // namespace hk::store
