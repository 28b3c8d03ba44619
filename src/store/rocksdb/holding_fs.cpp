#include "store/rocksdb/holding_fs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace hk::store {
namespace {

using rocksdb::DirFsyncOptions;
using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

/// The bytes of a file that a power cut would take; shared by the file and the file system.
struct Pending {
  std::mutex mutex;
  std::string bytes;
};

class HeldFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  HeldFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<Pending> pending)
      : FSWritableFileOwnerWrapper(std::move(file)), pending_(std::move(pending)) {}

  IOStatus Append(const Slice& data, const IOOptions& /*options*/,
                  IODebugContext* /*dbg*/) override {
    const std::scoped_lock lock(pending_->mutex);
    pending_->bytes.append(data.data(), data.size());
    size_ += data.size();
    return IOStatus::OK();
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  /// The bytes reach the operating system, which survives the SIGKILL: no real sync is needed.
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    const std::scoped_lock lock(pending_->mutex);
    if (pending_->bytes.empty()) {
      return IOStatus::OK();
    }
    if (IOStatus written = target()->Append(pending_->bytes, options, dbg); !written.ok()) {
      return written;
    }
    pending_->bytes.clear();
    return target()->Flush(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Sync(options, dbg);
  }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }
  IOStatus RangeSync(std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                     const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    if (size != size_) {
      return IOStatus::NotSupported("cutting a held file");
    }
    return IOStatus::OK();
  }
  IOStatus Allocate(std::uint64_t /*offset*/, std::uint64_t /*bytes*/, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }
  bool IsSyncThreadSafe() const override { return true; }
  bool use_direct_io() const override { return false; }
  std::uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return size_;
  }

 private:
  std::shared_ptr<Pending> pending_;
  std::uint64_t size_ = 0;
};

/// The content of a file with pending bytes, as it was when it was opened for reading.
class FrozenSequential final : public FSSequentialFile {
 public:
  explicit FrozenSequential(std::string content) : content_(std::move(content)) {}
  IOStatus Read(std::size_t n, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*dbg*/) override {
    n = std::min(n, content_.size() - at_);
    std::memcpy(scratch, content_.data() + at_, n);
    at_ += n;
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
  IOStatus Skip(std::uint64_t n) override {
    at_ = std::min<std::uint64_t>(content_.size(), at_ + n);
    return IOStatus::OK();
  }

 private:
  const std::string content_;
  std::size_t at_ = 0;
};

class FrozenRandomAccess final : public FSRandomAccessFile {
 public:
  explicit FrozenRandomAccess(std::string content) : content_(std::move(content)) {}
  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& /*options*/, Slice* result,
                char* scratch, IODebugContext* /*dbg*/) const override {
    const std::size_t from = std::min<std::uint64_t>(offset, content_.size());
    n = std::min(n, content_.size() - from);
    std::memcpy(scratch, content_.data() + from, n);
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }

 private:
  const std::string content_;
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}
std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// RocksDB spells one path with single and doubled slashes.
std::string normal(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c != '/' || out.empty() || out.back() != '/') {
      out.push_back(c);
    }
  }
  if (out.size() > 1 && out.back() == '/') {
    out.pop_back();
  }
  return out;
}

class HoldingFs final : public rocksdb::FileSystemWrapper {
 public:
  explicit HoldingFs(const std::shared_ptr<rocksdb::FileSystem>& below)
      : FileSystemWrapper(below) {}
  static const char* kClassName() { return "HikyakuHolding"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    const std::string name = normal(f);
    const std::scoped_lock lock(mutex_);
    const std::string held_dir = directory_of(name) + "/HELD";
    if (IOStatus made = target()->CreateDirIfMissing(held_dir, options.io_options, dbg);
        !made.ok()) {
      return made;
    }
    const std::string held = held_dir + "/" + std::to_string(next_++);
    std::unique_ptr<FSWritableFile> file;
    if (IOStatus made = target()->NewWritableFile(held, options, &file, dbg); !made.ok()) {
      return made;
    }
    drop_held(name, options.io_options, dbg);
    auto pending = std::make_shared<Pending>();
    names_[name] = {held, ++order_};
    pending_[name] = pending;
    *result = std::make_unique<HeldFile>(std::move(file), std::move(pending));
    return IOStatus::OK();
  }
  IOStatus ReopenWritableFile(const std::string& /*f*/, const FileOptions& /*options*/,
                              std::unique_ptr<FSWritableFile>* /*result*/,
                              IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported("reopening a held file");
  }
  IOStatus ReuseWritableFile(const std::string& /*f*/, const std::string& /*old*/,
                             const FileOptions& /*options*/,
                             std::unique_ptr<FSWritableFile>* /*result*/,
                             IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported("reusing a held file");
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    std::string content;
    const auto [frozen, status] = freeze(normal(f), options, content, dbg);
    if (frozen) {
      *result = std::make_unique<FrozenSequential>(std::move(content));
      return status;
    }
    const std::scoped_lock lock(mutex_);  // its name must not change before it is opened
    return target()->NewSequentialFile(where(f), options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    std::string content;
    const auto [frozen, status] = freeze(normal(f), options, content, dbg);
    if (frozen) {
      *result = std::make_unique<FrozenRandomAccess>(std::move(content));
      return status;
    }
    const std::scoped_lock lock(mutex_);  // its name must not change before it is opened
    return target()->NewRandomAccessFile(where(f), options, result, dbg);
  }

  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;

  IOStatus FileExists(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    const std::scoped_lock lock(mutex_);
    return target()->FileExists(where(f), options, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override {
    if (IOStatus listed = target()->GetChildren(dir, options, result, dbg); !listed.ok()) {
      return listed;
    }
    std::set<std::string> children(result->begin(), result->end());
    children.erase("HELD");
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, held] : names_) {
      if (directory_of(name) == normal(dir)) {
        children.insert(base_of(name));
      }
    }
    result->assign(children.begin(), children.end());
    return IOStatus::OK();
  }
  IOStatus GetFileSize(const std::string& f, const IOOptions& options, std::uint64_t* size,
                       IODebugContext* dbg) override {
    const std::scoped_lock lock(mutex_);
    if (IOStatus status = target()->GetFileSize(where(f), options, size, dbg); !status.ok()) {
      return status;
    }
    if (const auto found = pending_.find(normal(f)); found != pending_.end()) {
      const std::scoped_lock pending_lock(found->second->mutex);
      *size += found->second->bytes.size();
    }
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& options,
                                   std::uint64_t* time, IODebugContext* dbg) override {
    const std::scoped_lock lock(mutex_);
    return target()->GetFileModificationTime(where(f), options, time, dbg);
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    const std::string name = normal(f);
    const std::scoped_lock lock(mutex_);
    pending_.erase(name);
    if (drop_held(name, options, dbg)) {
      target()->DeleteFile(name, options, dbg).PermitUncheckedError();
      return IOStatus::OK();
    }
    return target()->DeleteFile(name, options, dbg);
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& options,
                      IODebugContext* dbg) override {
    const std::string from = normal(s);
    const std::string to = normal(t);
    const std::scoped_lock lock(mutex_);
    drop_held(to, options, dbg);
    pending_.erase(to);
    const auto held = names_.extract(from);
    if (held.empty()) {
      IOStatus renamed = target()->RenameFile(from, to, options, dbg);
      if (renamed.ok()) {
        follow_directory(from, to);
      }
      return renamed;
    }
    names_[to] = {held.mapped().path, ++order_};
    if (const auto pending = pending_.extract(from); !pending.empty()) {
      pending_[to] = pending.mapped();
    }
    return IOStatus::OK();
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& options,
                    IODebugContext* dbg) override {
    const std::scoped_lock lock(mutex_);
    return target()->LinkFile(where(s), t, options, dbg);
  }

  /// What a sync of the directory makes durable: the names of its files.
  IOStatus settle(const std::string& directory, const IOOptions& options, IODebugContext* dbg) {
    const std::scoped_lock lock(mutex_);
    // In the order in which they were given: a kill in between leaves a state that a real directory
    // can be in too, such as MANIFEST without the CURRENT that names it, but never the other way
    // round.
    std::map<std::uint64_t, std::string> in_order;
    for (const auto& [name, held] : names_) {
      if (directory_of(name) == directory) {
        in_order.emplace(held.order, name);
      }
    }
    for (const auto& [order, name] : in_order) {
      const auto held = names_.extract(name);
      if (IOStatus moved = target()->RenameFile(held.mapped().path, name, options, dbg);
          !moved.ok()) {
        return moved;
      }
    }
    return IOStatus::OK();
  }

 private:
  /// REQUIRES: mutex_ is held.
  std::string where(const std::string& f) {
    const auto found = names_.find(normal(f));
    return found == names_.end() ? f : found->second.path;
  }
  /// REQUIRES: mutex_ is held.
  bool drop_held(const std::string& name, const IOOptions& options, IODebugContext* dbg) {
    const auto held = names_.extract(name);
    if (held.empty()) {
      return false;
    }
    target()->DeleteFile(held.mapped().path, options, dbg).PermitUncheckedError();
    return true;
  }
  /// A directory was renamed, and what is held in it with it. REQUIRES: mutex_ is held.
  void follow_directory(const std::string& from, const std::string& to) {
    const auto follow = [&](auto& by_name, const auto& moved) {
      for (auto one = by_name.lower_bound(from + "/");
           one != by_name.end() && one->first.starts_with(from + "/");) {
        auto node = by_name.extract(one++);
        node.key() = to + node.key().substr(from.size());
        moved(node.mapped());
        by_name.insert(std::move(node));
      }
    };
    follow(names_, [&](Held& held) { held.path = to + held.path.substr(from.size()); });
    follow(pending_, [](const auto& /*pending*/) {});
  }
  /// first: the file has pending bytes, and `content` is all of it.
  std::pair<bool, IOStatus> freeze(const std::string& name, const FileOptions& options,
                                   std::string& content, IODebugContext* dbg) {
    const std::scoped_lock lock(mutex_);
    const auto found = pending_.find(name);
    if (found == pending_.end()) {
      return {false, IOStatus::OK()};
    }
    const std::scoped_lock pending_lock(found->second->mutex);
    if (found->second->bytes.empty()) {
      return {false, IOStatus::OK()};
    }
    const auto held = names_.find(name);
    const std::string& path = held == names_.end() ? name : held->second.path;
    std::uint64_t size = 0;
    std::unique_ptr<FSSequentialFile> file;
    if (IOStatus status = target()->GetFileSize(path, options.io_options, &size, dbg);
        !status.ok()) {
      return {true, status};
    }
    if (IOStatus status = target()->NewSequentialFile(path, options, &file, dbg); !status.ok()) {
      return {true, status};
    }
    content.resize(size);
    Slice read;
    IOStatus status = file->Read(size, options.io_options, &read, content.data(), dbg);
    content.assign(read.data(), read.size());
    content += found->second->bytes;
    return {true, status};
  }

  std::mutex mutex_;
  struct Held {
    std::string path{};       ///< where it is until its directory is synced
    std::uint64_t order = 0;  ///< when it got its name
  };
  std::map<std::string, Held> names_;
  std::uint64_t order_ = 0;
  std::map<std::string, std::shared_ptr<Pending>> pending_;
  std::uint64_t next_ = 0;
};

class HeldDirectory final : public FSDirectory {
 public:
  HeldDirectory(HoldingFs& fs, std::string name) : fs_(fs), name_(std::move(name)) {}
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return fs_.settle(name_, options, dbg);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& /*dir_options*/) override {
    return fs_.settle(name_, options, dbg);
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }

 private:
  HoldingFs& fs_;
  const std::string name_;
};

IOStatus HoldingFs::NewDirectory(const std::string& name, const IOOptions& /*options*/,
                                 std::unique_ptr<FSDirectory>* result, IODebugContext* /*dbg*/) {
  *result = std::make_unique<HeldDirectory>(*this, normal(name));
  return IOStatus::OK();
}

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_holding_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below) {
  return std::make_shared<HoldingFs>(below);
}

}  // namespace hk::store
