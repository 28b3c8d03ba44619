#include "store/rocksdb/ordered_log_fs.h"

#include <mutex>
#include <string>

#include "store/crash_point.h"
#include "store/rocksdb/file_io.h"

namespace hk::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

using Failed = std::shared_ptr<std::atomic<bool>>;

/// A log file as far as both its owner (RocksDB) and the next log file's maker need it.
struct OpenLog {
  std::mutex mutex;
  FSWritableFile* file = nullptr;  ///< null when closed
};

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<FSWritableFile> file, Failed failed)
      : FSWritableFileOwnerWrapper(std::move(file)),
        open_(std::make_shared<OpenLog>()),
        failed_(std::move(failed)) {
    open_->file = target();
  }
  ~LogFile() override { forget(); }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return noted(target()->Append(data, options, dbg));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    return noted(target()->Append(data, options, info, dbg));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return noted(target()->Flush(options, dbg));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return noted(target()->Sync(options, dbg));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return noted(target()->Fsync(options, dbg));
  }
  IOStatus RangeSync(std::uint64_t offset, std::uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return noted(target()->RangeSync(offset, bytes, options, dbg));
  }

  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    const IOStatus synced = Sync(options, dbg);
    forget();
    const IOStatus closed = noted(target()->Close(options, dbg));
    return synced.ok() ? closed : synced;
  }
  [[nodiscard]] const std::shared_ptr<OpenLog>& open_log() const { return open_; }

 private:
  IOStatus noted(IOStatus status) {
    if (!status.ok()) {
      failed_->store(true);
    }
    return status;
  }
  void forget() {
    const std::scoped_lock lock(open_->mutex);
    open_->file = nullptr;
  }
  std::shared_ptr<OpenLog> open_;
  const Failed failed_;
};

class OrderedLogFs final : public rocksdb::FileSystemWrapper {
 public:
  OrderedLogFs(const std::shared_ptr<rocksdb::FileSystem>& below, std::string directory,
               Failed failed)
      : FileSystemWrapper(below), directory_(std::move(directory)), failed_(std::move(failed)) {}
  static const char* kClassName() { return "HikyakuOrderedLog"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    if (!name.ends_with(".log") || !is_directly_in(name, directory_)) {
      return target()->NewWritableFile(name, options, result, dbg);
    }
    const std::scoped_lock lock(mutex_);
    if (previous_) {
      const std::scoped_lock previous_lock(previous_->mutex);
      if (previous_->file != nullptr) {
        if (IOStatus synced = previous_->file->Sync(options.io_options, dbg); !synced.ok()) {
          failed_->store(true);
          return synced;
        }
      }
    }
    crash_point(CrashPoint::log_ending);
    std::unique_ptr<FSWritableFile> file;
    if (IOStatus made = target()->NewWritableFile(name, options, &file, dbg); !made.ok()) {
      return made;
    }
    auto log = std::make_unique<LogFile>(std::move(file), failed_);
    previous_ = log->open_log();
    *result = std::move(log);
    crash_point(CrashPoint::log_made);
    return IOStatus::OK();
  }

  // The same as below, with the points at which a test may end the process.
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    crash_point(CrashPoint::rename_begins);
    IOStatus renamed = target()->RenameFile(from, to, options, dbg);
    crash_point(CrashPoint::rename_ended);
    return renamed;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* dbg) override {
    crash_point(CrashPoint::delete_begins);
    IOStatus deleted = target()->DeleteFile(name, options, dbg);
    crash_point(CrashPoint::delete_ended);
    return deleted;
  }

 private:
  const std::string directory_;
  const Failed failed_;
  std::mutex mutex_;
  std::shared_ptr<OpenLog> previous_;  ///< second owner: the LogFile
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_ordered_log_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below, std::string directory, Failed failed) {
  return std::make_shared<OrderedLogFs>(below, std::move(directory), std::move(failed));
}

}  // namespace hk::store
