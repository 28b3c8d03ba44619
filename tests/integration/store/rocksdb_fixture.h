/// What the tests of the RocksDB store share.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "integration/store/temp_dir.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::store {

inline RocksDbOptions small_options(std::string path) {
  RocksDbOptions options;
  options.path = std::move(path);
  options.write_buffer_bytes = std::size_t{1} << 20U;
  options.block_cache_bytes = std::size_t{4} << 20U;
  return options;
}

inline std::vector<Write> one_put(std::string key, std::string value) {
  return {{Write::Kind::put, Table::message, std::move(key), std::move(value)}};
}

/// A store in `path` that must open.
inline std::unique_ptr<DurableStore> open_or_fail(const RocksDbOptions& options) {
  auto opened = open_rocksdb(options);
  EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
  return opened ? std::move(*opened) : nullptr;
}

/// Batches 1..count, each with the rows key(n) in two tables; synced, closed, witness level.
inline std::string numbered_key(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  return std::string(8 - digits.size(), '0') + digits;
}
inline std::string numbered_value(std::uint64_t n, std::size_t bytes = 100) {
  return std::string(bytes, static_cast<char>('a' + n % 26)) + std::to_string(n);
}
inline void write_numbered(Store& store, std::uint64_t count, std::size_t value_bytes = 100) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t n = store.last_written() + 1;
    const std::vector<Write> batch = {
        {Write::Kind::put, Table::message, numbered_key(n), numbered_value(n, value_bytes)},
        {Write::Kind::put, Table::state, numbered_key(n), numbered_value(n, 10)}};
    ASSERT_TRUE(store.write(batch).has_value());
  }
}

/// The witness follows by itself: waits until it names everything that is durable.
inline void wait_until_witnessed(DurableStore& store) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (store.stats().witnessed < store.stats().last_synced &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(store.stats().witnessed, store.stats().last_synced);
}

/// The files of a directory with that ending (or name), oldest name first.
inline std::vector<std::string> files_ending(const std::string& path, const std::string& ending) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// From now on the open logs below `path` are written to that device instead.
inline void redirect_logs(const std::string& path, const char* device) {
  const int fd = ::open(device, O_WRONLY | O_CLOEXEC);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.starts_with(path) &&
        (target.ends_with(".log") || target.find("/HELD/") != std::string::npos)) {
      ::dup2(fd, std::stoi(entry.path().filename().string()));
    }
  }
  ::close(fd);
}

}  // namespace hk::store
