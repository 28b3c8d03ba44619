/// The directory as such: that it is ours, of a format we know, and used by nobody else. Taken
/// before RocksDB is asked for anything, so that each mistake gets an answer of its own.
///
///   FORMAT    "hikyaku-data 1": first file made, so that a directory without it is not ours
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
  static Result<void> write_format(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string witness_path() const { return path_ + "/WITNESS"; }
  [[nodiscard]] bool has_database() const { return file_exists(path_ + "/CURRENT"); }

 private:
  DataDir(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Fd lock_;
};

}  // namespace hk::store
