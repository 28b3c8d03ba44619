/// A file system for RocksDB that asks a watcher before each operation that changes files, and
/// tells it afterwards: one that writes them down (disk_image.h), or one that makes one of them
/// fail. One operation at a time, whatever thread it comes from. What only reads passes.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>

namespace hk::store {

struct FileOperation {
  enum class Kind : std::uint8_t {
    create,          ///< an empty file of that name
    append,          ///< `bytes`
    sync,            ///< of the file
    rename,          ///< to `to`
    remove,          ///< the name
    sync_directory,  ///< of the directory `path`
    link,            ///< a second name `to`
  };
  Kind kind{};
  std::string path{};
  std::string to{};
  std::string_view bytes{};
};

class FileWatcher {
 public:
  FileWatcher() = default;
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  virtual ~FileWatcher() = default;

  struct Verdict {
    rocksdb::IOStatus status{};  ///< not ok: the operation is not done, or in part
    std::size_t bytes_kept = 0;  ///< of an append that fails
  };
  virtual Verdict before(const FileOperation& /*operation*/) { return {}; }
  /// It was done.
  virtual void after(const FileOperation& /*operation*/) {}
};

std::shared_ptr<rocksdb::FileSystem> make_watched_fs(std::shared_ptr<FileWatcher> watcher);

}  // namespace hk::store
