/// A file system for RocksDB that makes SIGKILL as bad as a power cut, for tests: appended bytes
/// stay in this process until the file is synced, and files that were made or renamed get their
/// name on disk when their directory is synced. Reads in this process see everything. Deletions
/// happen at once. Unsynced names live in the subdirectory HELD of their directory. Called on
/// RocksDB's threads.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

namespace hk::store {

std::shared_ptr<rocksdb::FileSystem> make_holding_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below);

}  // namespace hk::store
