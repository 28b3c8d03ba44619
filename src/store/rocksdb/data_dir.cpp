#include "store/rocksdb/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "core/record.h"

namespace hk::store {
namespace {

constexpr unsigned format_known =
    core::Meta{}.format;  // the highest: that of a directory that is made now
constexpr std::string_view format_prefix = "hikyaku-data ";
constexpr const char* format_file = "FORMAT";

/// What may lie in a directory before the first start: a mount point's own, and our unfinished
/// marker.
bool harmless(const std::string& name) {
  return name == "lost+found" || name == std::string(format_file) + ".tmp";
}

Result<unsigned> read_format(const std::string& path) {
  const std::string file = path + "/" + format_file;
  auto content = read_whole_file(file, 256);
  if (!content) {
    return std::unexpected(content.error());
  }
  unsigned format = 0;
  const char* digits = content->data() + format_prefix.size();
  const char* end = content->data() + content->size();
  if (!content->starts_with(format_prefix) || content->back() != '\n' ||
      std::from_chars(digits, end, format).ptr != end - 1 || format == 0) {
    return fail(ErrorKind::corruption, file + " is damaged: it should hold the one line \"" +
                                           std::string(format_prefix) +
                                           std::to_string(format_known) +
                                           "\". If the directory is a data directory, write that "
                                           "line; if not, name another directory.");
  }
  if (format > format_known) {
    return fail(ErrorKind::conflict,
                path + " has data format " + std::to_string(format) +
                    ", which a newer version has written; this one knows formats up to " +
                    std::to_string(format_known) + ". Start the newer version again.");
  }
  return format;
}

}  // namespace

Result<void> DataDir::write_format(const std::string& path, unsigned format) {
  return write_whole_file(path, format_file,
                          std::string(format_prefix) + std::to_string(format) + "\n");
}

Result<void> DataDir::raise_format() {
  if (format_ == format_known) {
    return {};
  }
  if (auto written = write_format(path_, format_known); !written) {
    return written;
  }
  format_ = format_known;
  return {};
}

Result<DataDir> DataDir::open(const std::string& path, bool create) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (!exists && !create) {
    return fail(ErrorKind::not_found, "there is no data directory " + path);
  }
  if (!exists && !std::filesystem::create_directories(path, error) && error) {
    return io_error("cannot create the data directory", path, error.value());
  }
  Fd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) {
    return io_error("cannot open the data directory", path, errno);
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorKind::conflict, "the data directory " + path +
                                         " is in use by another process: stop that one first, or "
                                         "name another directory");
  }
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    return io_error("the data directory is not readable and writable:", path, errno);
  }

  if (file_exists(path + "/" + format_file)) {
    const auto format = read_format(path);
    if (!format) {
      return std::unexpected(format.error());
    }
    return DataDir(path, *format, std::move(lock));
  }
  if (!create) {
    return fail(ErrorKind::not_found,
                path + " is not a data directory: it has no file " + format_file);
  }
  const auto files = list_directory(path);
  if (!files) {
    return std::unexpected(files.error());
  }
  for (const FileInfo& file : *files) {
    if (!harmless(file.name)) {
      return fail(ErrorKind::invalid_argument,
                  path + " is not a data directory: it has no file " + format_file +
                      " but holds other things (" + file.name +
                      "). Name an empty or a new directory, or the right one; an unfinished backup "
                      "looks like this too and is of no use.");
    }
  }
  if (auto written = write_format(path, format_known); !written) {
    return std::unexpected(written.error());
  }
  const std::string parent = std::filesystem::absolute(path, error).parent_path().string();
  if (auto synced = sync_directory(parent.empty() ? "/" : parent); !synced) {
    return std::unexpected(synced.error());
  }
  return DataDir(path, format_known, std::move(lock));
}

}  // namespace hk::store
