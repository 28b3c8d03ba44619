/// A file system for RocksDB that keeps the log in order: before a new log file is made, the
/// previous one is synced. RocksDB itself starts the next log without that, so that a power cut
/// could keep a later batch and lose an earlier one. Called on RocksDB's threads.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

namespace hk::store {

std::shared_ptr<rocksdb::FileSystem> make_ordered_log_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below);

}  // namespace hk::store
