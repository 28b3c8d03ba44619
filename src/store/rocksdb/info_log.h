/// RocksDB's own notes (the file LOG of a data directory), for people who debug. RocksDB's logger
/// cannot be used: once a line could not be written it ends the process by an assertion, and a disk
/// that is full would do that. Here such a line is dropped. Called by any thread of RocksDB.
#pragma once

#include <rocksdb/env.h>

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <string>

#include "store/rocksdb/file_io.h"

namespace hk::store {

class InfoLog final : public rocksdb::Logger {
 public:
  /// Notes nothing.
  InfoLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  /// Into LOG of this directory; what was there becomes LOG.old.
  explicit InfoLog(const std::string& directory);

  using Logger::Logv;
  void Logv(const char* format, std::va_list arguments) override;
  /// A dump of all settings, which the file OPTIONS has, too.
  void LogHeader(const char* /*format*/, std::va_list /*arguments*/) override {}

 private:
  Fd file_;
  std::atomic<std::size_t> bytes_left_{0};
};

}  // namespace hk::store
