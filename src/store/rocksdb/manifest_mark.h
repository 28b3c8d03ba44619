/// Which table files belong to the database is written in RocksDB's file MANIFEST, and RocksDB
/// takes one that lacks its end for one that was never longer: whole tables would be gone, and
/// nobody would notice, because batches that are in tables are no longer in the log. So the length
/// and the checksum of what was synced of it are kept beside it, in the file MARK, and compared
/// before the database is opened. A MARK that is missing, broken or of an older MANIFEST tells
/// nothing.
///
/// Made and used by Database while it opens; then called by the one thread of RocksDB that writes
/// the MANIFEST.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "store/rocksdb/file_io.h"

namespace hk::store {

class ManifestMark {
 public:
  /// corruption: the current MANIFEST is not what was marked, or older.
  static Result<void> check(const std::string& directory);
  /// Marks the current MANIFEST of a directory that nobody has open, as it is.
  static Result<void> make(const std::string& directory);

  explicit ManifestMark(std::string directory) : directory_(std::move(directory)) {}
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// The database is open, and what was synced last is its MANIFEST: marked now and at each sync.
  Result<void> begin();
  /// The first `bytes` of this MANIFEST are durable. One that was begun since is not marked before
  /// the next start: whether it is the current one already, nobody knows here.
  void synced(std::string_view name, std::uint64_t bytes, std::uint32_t checksum);

 private:
  struct State {
    std::string name{};
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
  };
  static std::string to_line(const State& state);
  static bool parse(std::string_view line, State& state);

  const std::string directory_;
  std::mutex mutex_;
  State last_;          ///< protected by mutex_: what was synced last
  std::string marked_;  ///< protected by mutex_: the MANIFEST that is marked; empty before begin()
  Fd file_;             ///< protected by mutex_
};

/// A file system that tells `mark` of each MANIFEST that is synced.
std::shared_ptr<rocksdb::FileSystem> make_marking_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below, std::shared_ptr<ManifestMark> mark);

}  // namespace hk::store
