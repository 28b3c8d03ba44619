/// Whether the data directory still has the room that deliveries and settling need: below it
/// nothing new is accepted, so that what was accepted can be finished. Looked at every second by
/// the main thread, and by whoever publishes when that is too long ago: in a second a fast
/// publisher would write more than the reserve.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/process.h"
#include "observe/log.h"

namespace hk::cli {

class DiskWatch {
 public:
  DiskWatch(std::string path, std::uint64_t min_free)
      : path_(std::move(path)), min_free_(min_free) {
    look();
  }
  void look() {
    looked_at_ = now();
    const bool full = free_disk_bytes(path_) < min_free_;
    if (full != full_.exchange(full)) {
      if (full) {
        observe::log(observe::Level::error, "disk.nearly_full", {{"min_free_bytes", min_free_}});
      } else {
        observe::log(observe::Level::info, "disk.has_room_again");
      }
    }
  }
  /// Before a publish: why it is refused.
  [[nodiscard]] std::optional<std::string> refuse() {
    if (now() - looked_at_.load() >= fresh) {
      look();
    }
    if (!full_) {
      return std::nullopt;
    }
    return "the disk of the server is nearly full: nothing new is accepted until there is room";
  }
  [[nodiscard]] bool full() const { return full_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration fresh = std::chrono::milliseconds(10);
  static Clock::duration now() { return Clock::now().time_since_epoch(); }

  const std::string path_;
  const std::uint64_t min_free_;
  std::atomic<Clock::duration> looked_at_{};
  std::atomic<bool> full_{false};
};

}  // namespace hk::cli
