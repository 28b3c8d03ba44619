/// The directory as such: that it is ours, of a format we know, and used by nobody else. Taken
/// before RocksDB is asked for anything, so that each mistake gets an answer of its own.
///
///   FORMAT    "hikyaku-data 3": first file made, so that a directory without it is not ours. An
///             older one is raised when it is opened, before it is written to (migrate.h)
///   WITNESS   witness_file.h
///   the rest  RocksDB's
#pragma once

#include <string>

#include "store/rocksdb/file_io.h"

namespace hk::store {

class DataDir {
 public:
  /// Holds the directory until destroyed. ErrorKinds: as open_rocksdb().
  static Result<DataDir> open(const std::string& path, bool create);
  /// Marks a finished directory as ours (backups: last, so that half a backup is not accepted).
  static Result<void> write_format(const std::string& path, unsigned format);

  [[nodiscard]] unsigned format() const { return format_; }
  /// From now on only servers that know the newest format open it. Durable when it returns.
  Result<void> raise_format();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string witness_path() const { return path_ + "/WITNESS"; }
  [[nodiscard]] bool has_database() const { return file_exists(path_ + "/CURRENT"); }

 private:
  DataDir(std::string path, unsigned format, Fd lock)
      : path_(std::move(path)), format_(format), lock_(std::move(lock)) {}
  std::string path_;
  unsigned format_;
  Fd lock_;
};

}  // namespace hk::store
