/// Small durable files: whole-file reads and writes with the syncs that make them survive a power
/// cut. Used while opening, closing and backing up; never on the write path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::store {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// What an error number of the system means for whoever asked.
ErrorKind kind_of_errno(int error_number);
/// A sentence that tells a person what to do about it, after a space; empty: nobody knows.
std::string remedy_for_errno(int error_number);
/// "<what> <path>: <reason>", with the remedy and a kind chosen by the error number.
std::unexpected<Error> io_error(std::string_view what, const std::string& path, int error_number);

bool file_exists(const std::string& path);
struct FileInfo {
  std::string name{};
  std::uint64_t bytes = 0;  ///< 0 for what is not a file
};
/// What is in the directory; files that vanish meanwhile are left out.
Result<std::vector<FileInfo>> list_directory(const std::string& path);
Result<std::string> read_whole_file(const std::string& path, std::size_t bytes_max);
/// All or nothing, also across a power cut: a temporary file, renamed.
Result<void> write_whole_file(const std::string& directory, const std::string& name,
                              std::string_view content);
Result<void> sync_directory(const std::string& path);

/// Whether a path, however it is spelled, is that of a file in this directory itself.
bool is_directly_in(const std::string& path, const std::string& directory);

}  // namespace hk::store
