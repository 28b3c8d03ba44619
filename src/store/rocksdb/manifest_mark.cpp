#include "store/rocksdb/manifest_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "security/digest.h"

namespace hk::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr std::string_view manifest_prefix = "MANIFEST-";
constexpr std::size_t line_bytes = 128;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// 0: not the name of a MANIFEST.
std::uint64_t number_of(std::string_view name) {
  std::uint64_t number = 0;
  if (name.starts_with(manifest_prefix)) {
    std::from_chars(name.data() + manifest_prefix.size(), name.data() + name.size(), number);
  }
  return number;
}

/// The MANIFEST that CURRENT names; empty when it names none, which RocksDB will say.
std::string current_manifest(const std::string& directory) {
  const auto current = read_whole_file(directory + "/CURRENT", 256);
  if (!current || !current->ends_with('\n')) {
    return "";
  }
  std::string name = current->substr(0, current->size() - 1);
  return number_of(name) == 0 ? "" : name;
}

class ManifestFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ManifestFile(std::unique_ptr<FSWritableFile> file, std::string name,
               std::shared_ptr<ManifestMark> mark)
      : FSWritableFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        mark_(std::move(mark)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return added(data, FSWritableFileOwnerWrapper::Append(data, options, dbg));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    return added(data, FSWritableFileOwnerWrapper::Append(data, options, info, dbg));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return marked(FSWritableFileOwnerWrapper::Sync(options, dbg));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return marked(FSWritableFileOwnerWrapper::Fsync(options, dbg));
  }

 private:
  IOStatus added(const Slice& data, IOStatus status) {
    if (status.ok()) {
      bytes_ += data.size();
      checksum_ = security::crc32c({data.data(), data.size()}, checksum_);
    } else {
      whole_ = false;  // nobody knows how much of it was written
    }
    return status;
  }
  IOStatus marked(IOStatus status) {
    if (status.ok() && whole_) {
      mark_->synced(name_, bytes_, checksum_);
    }
    return status;
  }

  const std::string name_;
  const std::shared_ptr<ManifestMark> mark_;
  std::uint64_t bytes_ = 0;
  std::uint32_t checksum_ = 0;
  bool whole_ = true;
};

class MarkingFs final : public rocksdb::FileSystemWrapper {
 public:
  MarkingFs(const std::shared_ptr<rocksdb::FileSystem>& below, std::shared_ptr<ManifestMark> mark)
      : FileSystemWrapper(below), mark_(std::move(mark)) {}
  static const char* kClassName() { return "HikyakuMarking"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    std::unique_ptr<FSWritableFile> file;
    IOStatus made = target()->NewWritableFile(name, options, &file, dbg);
    // A backup's copy has the same name.
    if (made.ok() && number_of(base_name(name)) != 0 && is_directly_in(name, mark_->directory())) {
      file = std::make_unique<ManifestFile>(std::move(file), std::string(base_name(name)), mark_);
    }
    *result = std::move(file);
    return made;
  }

 private:
  const std::shared_ptr<ManifestMark> mark_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_marking_fs(
    const std::shared_ptr<rocksdb::FileSystem>& below, std::shared_ptr<ManifestMark> mark) {
  return std::make_shared<MarkingFs>(below, std::move(mark));
}

/// "MANIFEST-000007 4386 2087539113 361196572": name, bytes, their checksum, that of the line so
/// far; spaces up to the end of the line, so that each is written over the one before.
std::string ManifestMark::to_line(const State& state) {
  std::string line =
      state.name + " " + std::to_string(state.bytes) + " " + std::to_string(state.checksum) + " ";
  line += std::to_string(security::crc32c(line));
  line.resize(line_bytes - 1, ' ');
  return line + "\n";
}

bool ManifestMark::parse(std::string_view line, State& state) {
  std::istringstream words{std::string(line)};
  words >> state.name >> state.bytes >> state.checksum;
  return !words.fail() && to_line(state) == line;
}

Result<void> ManifestMark::check(const std::string& directory) {
  State marked;
  const auto line = read_whole_file(directory + "/MARK", line_bytes);
  const std::string current = current_manifest(directory);
  if (!line || !parse(*line, marked) || current.empty() ||
      number_of(marked.name) < number_of(current)) {
    return {};
  }
  const auto refuse = [&](const std::string& what) {
    return fail(
        ErrorKind::corruption,
        "refusing to start: " + what +
            ", so tables that were written are missing. Keep a copy of the directory, check "
            "the disk and who has touched its files, and restore the last backup or the "
            "missing files.");
  };
  if (marked.name != current) {
    return refuse(directory + "/CURRENT names " + current + ", but " + marked.name +
                  " was in use already");
  }
  const auto content = read_whole_file(directory + "/" + current, marked.bytes);
  if (!content) {
    if (content.error().kind == ErrorKind::not_found) {
      return refuse(directory + "/" + current + " is missing");
    }
    return std::unexpected(content.error());
  }
  if (content->size() < marked.bytes || security::crc32c(*content) != marked.checksum) {
    return refuse(directory + "/" + current + " does not begin with the " +
                  std::to_string(marked.bytes) + " bytes that were written to it");
  }
  return {};
}

Result<void> ManifestMark::make(const std::string& directory) {
  State state{.name = current_manifest(directory)};
  const std::string path = directory + "/" + state.name;
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    return io_error("cannot read", path, error.value());
  }
  const auto content = read_whole_file(path, bytes);
  if (!content) {
    return std::unexpected(content.error());
  }
  state.bytes = content->size();
  state.checksum = security::crc32c(*content);
  return write_whole_file(directory, "MARK", to_line(state));
}

Result<void> ManifestMark::begin() {
  const std::scoped_lock lock(mutex_);
  if (auto written = write_whole_file(directory_, "MARK", to_line(last_)); !written) {
    return written;
  }
  const std::string path = directory_ + "/MARK";
  file_ = Fd(::open(path.c_str(), O_WRONLY | O_DSYNC | O_CLOEXEC));
  if (!file_.valid()) {
    return io_error("cannot open for writing", path, errno);
  }
  marked_ = last_.name;
  return {};
}

void ManifestMark::synced(std::string_view name, std::uint64_t bytes, std::uint32_t checksum) {
  const std::scoped_lock lock(mutex_);
  last_ = State{.name = std::string(name), .bytes = bytes, .checksum = checksum};
  if (marked_ == name) {
    const std::string line = to_line(last_);
    if (::pwrite(file_.get(), line.data(), line.size(), 0) < 0) {
      // What is marked is still true: a MANIFEST only grows.
    }
  }
}

}  // namespace hk::store
