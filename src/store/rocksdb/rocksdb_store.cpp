#include "store/rocksdb/rocksdb_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/assert.h"
#include "base/sometimes.h"
#include "store/crash_point.h"
#include "store/migrate.h"
#include "store/rocksdb/data_dir.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/manifest_mark.h"
#include "store/rocksdb/reclaimer.h"
#include "store/rocksdb/recovery.h"
#include "store/rocksdb/snapshot_reader.h"
#include "store/rocksdb/value_guard.h"
#include "store/rocksdb/witness_keeper.h"

HK_SOMETIMES_DECLARE(rocksdb_ring_forced_sync)

namespace hk::store {
namespace {

/// A WriteBatch larger than this is not kept for the next batch.
constexpr std::size_t kept_batch_bytes_max = std::size_t{4} << 20U;

rocksdb::WriteBatch new_batch() { return rocksdb::WriteBatch(0, 0, batch_protection_bytes, 0); }

void put_guarded(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family,
                 std::uint8_t table, std::string_view key, std::string_view value,
                 rocksdb::Status& status) {
  const auto guard = guard_as_bytes(guard_of(table, key, value));
  const rocksdb::Slice key_parts[] = {key};
  const rocksdb::Slice value_parts[] = {value, rocksdb::Slice(guard.data(), guard.size())};
  const rocksdb::Status added =
      batch.Put(family, rocksdb::SliceParts(key_parts, 1), rocksdb::SliceParts(value_parts, 2));
  if (!added.ok()) {
    status = added;
  }
}

bool may_be_of_a_backup(std::string_view name) {
  constexpr std::string_view whole[] = {"CURRENT", "IDENTITY", "WITNESS", "MARK", "FORMAT"};
  if (name.ends_with(".tmp")) {
    name.remove_suffix(4);
  }
  return std::ranges::find(whole, name) != std::end(whole) || name.starts_with("MANIFEST-") ||
         name.starts_with("OPTIONS-") || name.starts_with("master.key") || name.ends_with(".sst") ||
         name.ends_with(".blob") || name.ends_with(".log");
}

/// What an earlier backup to the same place has left. conflict: it is something else, which is not
/// ours to remove.
Result<void> remove_partial(const std::string& partial) {
  if (!file_exists(partial)) {
    return {};
  }
  const auto files = list_directory(partial);
  if (!files || !std::ranges::all_of(
                    *files, [](const FileInfo& one) { return may_be_of_a_backup(one.name); })) {
    return fail(ErrorKind::conflict,
                partial +
                    " is there and is not an unfinished backup: move it away, or name another "
                    "directory for the backup");
  }
  std::error_code error;
  std::filesystem::remove_all(partial, error);
  if (error) {
    return io_error("cannot remove the unfinished backup", partial, error.value());
  }
  return {};
}

class RocksDbStore final : public DurableStore {
 public:
  RocksDbStore(const RocksDbOptions& options, DataDir dir, std::unique_ptr<Database> database,
               WitnessFile witness, const Link& recovered)
      : dir_(std::move(dir)),
        database_(std::move(database)),
        witness_(std::move(witness)),
        reclaimer_(*database_, options.reclaim_pace, options.reclaim_rows_min),
        batch_(new_batch()),
        last_(recovered),
        last_written_(recovered.seq),
        last_synced_(recovered.seq) {}

  ~RocksDbStore() override {
    if (auto closed = close(); !closed) {
      // The next start recovers; whoever wanted to know has called close() before.
    }
  }

  Result<BatchSeq> write(std::span<const Write> writes) override;
  Result<BatchSeq> sync() override;
  std::unique_ptr<Reader> snapshot() override {
    return std::make_unique<SnapshotReader>(*database_, readers_);
  }
  [[nodiscard]] BatchSeq last_written() const override { return last_written_.load(); }

  Result<void> checkpoint(const std::string& dir, const AddFiles& add) override;
  Result<void> scrub() override;
  StoreStats stats() override;
  Result<void> rewrite(Table table) override;
  Result<void> close() override;

 private:
  std::optional<Error> refusal();
  /// Every later write() and sync() is refused: the log may or may not hold what failed.
  std::unexpected<Error> stop(const Error& error);
  rocksdb::Status fill(std::span<const Write> writes);

  DataDir dir_;
  const std::unique_ptr<Database> database_;
  WitnessKeeper witness_;
  Reclaimer reclaimer_;

  rocksdb::WriteBatch batch_;  ///< the writer's own; kept for its buffers
  std::mutex sync_mutex_;      ///< one sync at a time: the sync thread's, or one forced by write()

  std::mutex mutex_;
  Link last_;                     ///< protected by mutex_: of the last batch written
  std::optional<Error> refusal_;  ///< protected by mutex_

  std::atomic<BatchSeq> last_written_;
  std::atomic<BatchSeq> last_synced_;
  std::atomic<std::size_t> readers_{0};
  bool closed_ = false;  ///< close() is called once nobody else calls
};

std::optional<Error> RocksDbStore::refusal() {
  const std::scoped_lock lock(mutex_);
  return refusal_;
}

std::unexpected<Error> RocksDbStore::stop(const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (!refusal_) {
    refusal_ = Error{ErrorKind::unknown_outcome,
                     "the store stopped after an error (" + error.message +
                         "); whether the last batches are durable is decided at the next start"};
  }
  return std::unexpected(*refusal_);
}

rocksdb::Status RocksDbStore::fill(std::span<const Write> writes) {
  if (batch_.GetDataSize() > kept_batch_bytes_max) {
    batch_ = new_batch();
  }
  batch_.Clear();
  rocksdb::Status status;
  for (const Write& one : writes) {
    rocksdb::ColumnFamilyHandle* const family = database_->table(one.table);
    switch (one.kind) {
      case Write::Kind::put:
        put_guarded(batch_, family, static_cast<std::uint8_t>(one.table), one.key, one.value,
                    status);
        break;
      case Write::Kind::erase:
        if (const auto added = batch_.Delete(family, one.key); !added.ok()) {
          status = added;
        }
        break;
      case Write::Kind::erase_range:
        if (one.key < one.value) {  // RocksDB takes a range the wrong way round for an error
          if (const auto added = batch_.DeleteRange(family, one.key, one.value); !added.ok()) {
            status = added;
          }
        }
        break;
    }
  }
  return status;
}

Result<BatchSeq> RocksDbStore::write(std::span<const Write> writes) {
  HK_ASSERT(!writes.empty());
  if (auto refused = refusal()) {
    return std::unexpected(std::move(*refused));
  }
  const BatchSeq seq = last_written_.load() + 1;
  if (seq >= witness_.witnessed() + ring_size) {
    // The link that the witness names must not leave the ring.
    HK_SOMETIMES(rocksdb_ring_forced_sync);
    if (auto synced = sync(); !synced) {
      return synced;
    }
    if (auto level = witness_.level(); !level) {
      return stop(level.error());
    }
  }

  // RocksDB counts every comparison of two keys for the thread that makes it. Nobody reads that,
  // and it is a fifth of what a row takes in the memtable.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  rocksdb::Status status = fill(writes);
  const Link link = next_link(last_, batch_.Data());
  put_guarded(batch_, database_->own(), own_table, chain_key(seq), chain_value(link), status);
  crash_point(CrashPoint::batch_unwritten);
  if (status.ok()) {
    rocksdb::WriteOptions unsynced;
    unsynced.sync = false;  // sync() makes it durable: one sync serves every batch before it
    status = database_->db().Write(unsynced, &batch_);
  }
  if (!status.ok()) {
    return stop(to_error(status, "cannot write batch " + std::to_string(seq)));
  }
  crash_point(CrashPoint::batch_written);
  {
    const std::scoped_lock lock(mutex_);
    last_ = link;
  }
  last_written_.store(seq);
  reclaimer_.note(writes);
  return seq;
}

Result<BatchSeq> RocksDbStore::sync() {
  const std::scoped_lock one_at_a_time(sync_mutex_);
  Link covered;
  {
    const std::scoped_lock lock(mutex_);
    if (refusal_) {
      return std::unexpected(*refusal_);
    }
    covered = last_;
  }
  if (database_->log_failed()) {
    return stop({ErrorKind::unavailable, "cannot sync the log: an earlier operation on it failed"});
  }
  crash_point(CrashPoint::sync_begins);
  const rocksdb::Status status = database_->db().SyncWAL();
  if (!status.ok()) {
    return stop(to_error(status, "cannot sync the log"));
  }
  crash_point(CrashPoint::log_synced);
  if (auto written = witness_.finish(covered); !written) {
    return stop(written.error());
  }
  last_synced_.store(covered.seq);
  return covered.seq;
}

Result<void> RocksDbStore::scrub() {
  const auto status = database_->db().VerifyFileChecksums(read_options());
  if (!status.ok()) {
    return std::unexpected(
        to_error(status, "a file of " + dir_.path() + " is damaged; restore it from a backup"));
  }
  return {};
}

Result<void> RocksDbStore::checkpoint(const std::string& dir, const AddFiles& add) {
  if (file_exists(dir)) {
    return fail(ErrorKind::conflict,
                "the backup directory " + dir + " exists already: name one that does not");
  }
  if (auto whole = scrub(); !whole) {
    return whole;
  }
  crash_point(CrashPoint::backup_begins);
  // Made under another name: what bears the name is a whole backup.
  const std::string partial = dir + ".partial";
  if (auto removed = remove_partial(partial); !removed) {
    return removed;
  }
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(&database_->db(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> maker(made);
  if (status.ok()) {
    status = maker->CreateCheckpoint(partial);
  }
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot make a backup in " + partial));
  }
  crash_point(CrashPoint::backup_copied);
  // Which batch it ends with, only the backup itself knows; reading it also proves that it opens.
  Link last;
  {
    auto copy = Database::open_read_only(partial);
    if (!copy) {
      return std::unexpected(copy.error());
    }
    auto chain = (*copy)->read_chain();
    if (!chain) {
      return std::unexpected(chain.error());
    }
    last = chain->last();
    auto id = (*copy)->read_id();
    if (!id || !*id) {
      return fail(ErrorKind::corruption, "the backup in " + partial + " has no store id");
    }
    if (auto witness = WitnessFile::create(partial, **id, last); !witness) {
      return std::unexpected(witness.error());
    }
  }
  if (auto marked = ManifestMark::make(partial); !marked) {
    return marked;
  }
  if (add) {
    if (auto added = add(partial); !added) {
      return added;
    }
  }
  crash_point(CrashPoint::backup_witnessed);
  if (auto marked = DataDir::write_format(partial, dir_.format()); !marked) {
    return marked;
  }
  crash_point(CrashPoint::backup_unnamed);
  std::error_code error;
  std::filesystem::rename(partial, dir, error);
  if (error) {
    return io_error("cannot give the backup its name", dir, error.value());
  }
  crash_point(CrashPoint::backup_named);
  const std::string parent = std::filesystem::absolute(dir).parent_path().string();
  return sync_directory(parent);
}

Result<void> RocksDbStore::rewrite(Table table) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  const auto status =
      database_->db().CompactRange(options, database_->table(table), nullptr, nullptr);
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot rewrite a table of " + dir_.path()));
  }
  return {};
}

StoreStats RocksDbStore::stats() {
  rocksdb::DB& db = database_->db();
  const auto total = [&db](const std::string& property) {
    std::uint64_t value = 0;
    return db.GetAggregatedIntProperty(property, &value) ? value : 0;
  };
  StoreStats stats;
  if (const auto files = list_directory(dir_.path())) {
    for (const FileInfo& file : *files) {
      stats.disk_bytes += file.bytes;
      stats.log_bytes += file.name.ends_with(".log") ? file.bytes : 0;
    }
  }
  stats.memtable_bytes = total(rocksdb::DB::Properties::kSizeAllMemTables);
  stats.block_cache_bytes = database_->settings().cache->GetUsage();
  stats.pending_compaction_bytes = total(rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
  stats.snapshots = readers_.load();
  stats.stalled = total(rocksdb::DB::Properties::kIsWriteStopped) != 0 ||
                  total(rocksdb::DB::Properties::kActualDelayedWriteRate) != 0;
  stats.last_written = last_written_.load();
  stats.last_synced = last_synced_.load();
  stats.witnessed = witness_.witnessed();
  return stats;
}

Result<void> RocksDbStore::close() {
  if (closed_) {
    return {};
  }
  closed_ = true;
  HK_ASSERT(readers_.load() == 0);
  reclaimer_.stop();
  Result<void> result;
  if (auto synced = sync(); !synced) {
    result = std::unexpected(synced.error());
  } else if (auto level = witness_.level(); !level) {
    result = level;
  }
  static_cast<void>(stop(Error{ErrorKind::unavailable, "the store is closed"}));
  if (auto closed = database_->close(); !closed && result) {
    result = closed;
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<DurableStore>> open_rocksdb(const RocksDbOptions& options) {
  auto dir = DataDir::open(options.path, options.create);
  if (!dir) {
    return std::unexpected(dir.error());
  }
  crash_point(CrashPoint::directory_made);
  auto witness = open_witness(*dir);
  if (!witness) {
    return std::unexpected(witness.error());
  }
  crash_point(CrashPoint::witness_opened);
  if (witness->link().seq != 0 && !dir->has_database() && !options.accept_loss_after) {
    return fail(ErrorKind::corruption,
                "refusing to start: " + dir->witness_path() + " says that batch " +
                    std::to_string(witness->link().seq) + " was acknowledged, but " + dir->path() +
                    " holds no database (the file CURRENT is missing). Put the files back, or "
                    "restore the directory from a backup.");
  }
  // Before RocksDB makes tables that an older server does not know.
  if (auto raised = dir->raise_format(); !raised) {
    return std::unexpected(raised.error());
  }
  auto database = Database::open(options);
  if (!database) {
    return std::unexpected(database.error());
  }
  crash_point(CrashPoint::database_opened);
  auto recovered = recover(**database, *dir, *witness, options.accept_loss_after);
  if (!recovered) {
    return std::unexpected(recovered.error());
  }
  crash_point(CrashPoint::database_recovered);
  // RocksDB has written what it recovered into tables: all of it is durable, so it is witnessed.
  if (*recovered != witness->link()) {
    if (auto level = witness->write(*recovered); !level) {
      return std::unexpected(level.error());
    }
  }
  crash_point(CrashPoint::witness_leveled);
  auto store = std::make_unique<RocksDbStore>(options, std::move(*dir), std::move(*database),
                                              std::move(*witness), *recovered);
  if (auto migrated = migrate(*store); !migrated) {
    return std::unexpected(migrated.error());
  }
  return store;
}

}  // namespace hk::store
