/// One descriptor for a source that waits for connections and for time: an epoll set with a timer
/// in it. A connection that is closed leaves the set by itself. The relay's thread.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace hk::outbox {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

class WakeSet {
 public:
  /// unavailable: the process has no descriptors left.
  Result<void> open();

  /// Readable when a watched descriptor is, or when the time has come. -1 before open().
  [[nodiscard]] int fd() const { return epoll_.get(); }

  Result<void> watch(int fd);
  /// Once, and instead of what was asked before.
  void wake_after(Millis delay);

  struct Ready {
    bool timer = false;
    std::vector<int> fds{};
    [[nodiscard]] bool has(int fd) const;
  };
  /// What is readable now, without blocking.
  Ready take();

 private:
  OwnedFd epoll_{};
  OwnedFd timer_{};
};

}  // namespace hk::outbox
