/// A file system for RocksDB that keeps the log in order: before a new log file is made, the
/// previous one is synced. RocksDB itself starts the next log without that, so that a power cut
/// could keep a later batch and lose an earlier one. It also remembers that an operation on a log
/// failed: RocksDB meets some of these errors on threads of its own, tells nobody, and ends the
/// process by an assertion when it is asked to sync that log. Only the logs of the database itself
/// count: a backup copies one through the same file system. Called on RocksDB's threads.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>

namespace hk::store {

/// For the database in `directory`. `failed` becomes true before RocksDB hears of the error.
std::shared_ptr<rocksdb::FileSystem> make_ordered_log_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below, std::string directory,
    std::shared_ptr<std::atomic<bool>> failed);

}  // namespace hk::store
