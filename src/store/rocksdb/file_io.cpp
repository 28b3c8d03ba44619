#include "store/rocksdb/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace hk::store {

ErrorKind kind_of_errno(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::permission_denied;
    case ENOENT: return ErrorKind::not_found;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return ErrorKind::unavailable;
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return ErrorKind::invalid_argument;
    default: return ErrorKind::internal;
  }
}

std::string remedy_for_errno(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM: return " Give it to the user that the server runs as.";
    case EROFS:
      return " The file system is mounted read-only: if an error made it so, the kernel's log "
             "tells "
             "which.";
    case ENOSPC: return " The disk is full: make room on it and start again.";
    case EDQUOT: return " The quota is used up: raise it or make room, and start again.";
    case EMFILE: return " Raise the limit of open files (LimitNOFILE of the unit, ulimit -n).";
    case ENFILE: return " Raise the system's limit of open files (fs.file-max).";
    case EIO: return " The disk could not do it: the kernel's log tells more.";
    case ENOTDIR: return " Name a directory.";
    default: return "";
  }
}

Fd::~Fd() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

std::unexpected<Error> io_error(std::string_view what, const std::string& path, int error_number) {
  return fail(kind_of_errno(error_number), std::string(what) + " " + path + ": " +
                                               std::generic_category().message(error_number) + "." +
                                               remedy_for_errno(error_number));
}

bool file_exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

Result<std::vector<FileInfo>> list_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  std::vector<FileInfo> files;
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::error_code gone;
    const bool is_file = entry->is_regular_file(gone);
    const std::uint64_t bytes = is_file ? entry->file_size(gone) : 0;
    if (!gone) {
      files.push_back({entry->path().filename().string(), bytes});
    }
    entry.increment(error);
  }
  if (error) {
    return io_error("cannot list", path, error.value());
  }
  return files;
}

Result<std::string> read_whole_file(const std::string& path, std::size_t bytes_max) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return io_error("cannot open", path, errno);
  }
  std::string content(bytes_max, '\0');
  std::size_t size = 0;
  while (size < bytes_max) {
    const ssize_t got = ::read(file.get(), content.data() + size, bytes_max - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return io_error("cannot read", path, errno);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  return content;
}

Result<void> write_whole_file(const std::string& directory, const std::string& name,
                              std::string_view content) {
  const std::string path = directory + "/" + name;
  const std::string temporary = path + ".tmp";
  {
    const Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) {
      return io_error("cannot create", temporary, errno);
    }
    while (!content.empty()) {
      const ssize_t written = ::write(file.get(), content.data(), content.size());
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        return io_error("cannot write", temporary, errno);
      }
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file.get()) != 0) {
      return io_error("cannot sync", temporary, errno);
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return io_error("cannot rename to", path, errno);
  }
  return sync_directory(directory);
}

Result<void> sync_directory(const std::string& path) {
  const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) {
    return io_error("cannot open the directory", path, errno);
  }
  if (::fsync(directory.get()) != 0) {
    return io_error("cannot sync the directory", path, errno);
  }
  return {};
}

bool is_directly_in(const std::string& path, const std::string& directory) {
  const auto folder = [](const std::string& one) {
    return std::filesystem::path(one).lexically_normal().parent_path();
  };
  return folder(path) == folder(directory + "/.");
}

}  // namespace hk::store
