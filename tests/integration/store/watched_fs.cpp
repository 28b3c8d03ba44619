#include "integration/store/watched_fs.h"

#include <mutex>
#include <utility>

namespace hk::store {
namespace {

using rocksdb::DirFsyncOptions;
using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using Kind = FileOperation::Kind;

struct Watch {
  std::shared_ptr<FileWatcher> watcher;
  std::recursive_mutex one_at_a_time;

  template <class Do>
  IOStatus run(const FileOperation& operation, const Do& perform) {
    const std::scoped_lock lock(one_at_a_time);
    if (auto verdict = watcher->before(operation); !verdict.status.ok()) {
      return verdict.status;
    }
    IOStatus status = perform();
    if (status.ok()) {
      watcher->after(operation);
    }
    return status;
  }
};

class WatchedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedFile(std::unique_ptr<FSWritableFile> file, std::string path, std::shared_ptr<Watch> watch)
      : FSWritableFileOwnerWrapper(std::move(file)),
        path_(std::move(path)),
        watch_(std::move(watch)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    const FileOperation operation{Kind::append, path_, {}, {data.data(), data.size()}};
    const std::scoped_lock lock(watch_->one_at_a_time);
    auto verdict = watch_->watcher->before(operation);
    if (!verdict.status.ok()) {
      if (verdict.bytes_kept > 0) {
        target()
            ->Append(Slice(data.data(), verdict.bytes_kept), options, dbg)
            .PermitUncheckedError();
      }
      return verdict.status;
    }
    IOStatus status = target()->Append(data, options, dbg);
    if (status.ok()) {
      watch_->watcher->after(operation);
    }
    return status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_->run({Kind::sync, path_, {}, {}}, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_->run({Kind::sync, path_, {}, {}}, [&] { return target()->Fsync(options, dbg); });
  }

 private:
  const std::string path_;
  const std::shared_ptr<Watch> watch_;
};

class WatchedDirectory final : public FSDirectory {
 public:
  WatchedDirectory(std::unique_ptr<FSDirectory> below, std::string path,
                   std::shared_ptr<Watch> watch)
      : below_(std::move(below)), path_(std::move(path)), watch_(std::move(watch)) {}
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_->run({Kind::sync_directory, path_, {}, {}},
                       [&] { return below_->Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& how) override {
    return watch_->run({Kind::sync_directory, path_, {}, {}},
                       [&] { return below_->FsyncWithDirOptions(options, dbg, how); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return below_->Close(options, dbg);
  }

 private:
  const std::unique_ptr<FSDirectory> below_;
  const std::string path_;
  const std::shared_ptr<Watch> watch_;
};

class WatchedFs final : public rocksdb::FileSystemWrapper {
 public:
  explicit WatchedFs(std::shared_ptr<FileWatcher> watcher)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), watch_(std::make_shared<Watch>()) {
    watch_->watcher = std::move(watcher);
  }
  static const char* kClassName() { return "HikyakuWatched"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    std::unique_ptr<FSWritableFile> file;
    IOStatus made = watch_->run({Kind::create, f, {}, {}},
                                [&] { return target()->NewWritableFile(f, options, &file, dbg); });
    if (made.ok()) {
      *result = std::make_unique<WatchedFile>(std::move(file), f, watch_);
    }
    return made;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    std::unique_ptr<FSDirectory> below;
    IOStatus opened = target()->NewDirectory(name, options, &below, dbg);
    if (opened.ok()) {
      *result = std::make_unique<WatchedDirectory>(std::move(below), name, watch_);
    }
    return opened;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    return watch_->run({Kind::rename, from, to, {}},
                       [&] { return target()->RenameFile(from, to, options, dbg); });
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    return watch_->run({Kind::link, from, to, {}},
                       [&] { return target()->LinkFile(from, to, options, dbg); });
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    return watch_->run({Kind::remove, f, {}, {}},
                       [&] { return target()->DeleteFile(f, options, dbg); });
  }

 private:
  const std::shared_ptr<Watch> watch_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_watched_fs(std::shared_ptr<FileWatcher> watcher) {
  return std::make_shared<WatchedFs>(std::move(watcher));
}

}  // namespace hk::store
