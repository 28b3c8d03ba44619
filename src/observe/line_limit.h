/// Bounds the lines of the log that somebody outside can cause: so many a second, so that whoever
/// guesses or sends garbage cannot fill the disk. Whoever has lines of the level debug written gets
/// all of them. Of one thread; header only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "observe/log.h"

namespace hk::observe {

class LineLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LineLimit(std::uint64_t lines_per_second) : lines_per_second_(lines_per_second) {}

  /// nullopt: leave this one out. Else how many were left out since the last one that was not.
  std::optional<std::uint64_t> take(Time now) {
    if (log_enabled(Level::debug)) {
      return std::exchange(left_out_, 0);
    }
    if (now - begin_ >= std::chrono::seconds(1)) {
      begin_ = now;
      lines_ = 0;
    }
    if (lines_ == lines_per_second_) {
      ++left_out_;
      return std::nullopt;
    }
    ++lines_;
    return std::exchange(left_out_, 0);
  }

 private:
  std::uint64_t lines_per_second_;
  Time begin_{};
  std::uint64_t lines_ = 0;  ///< since begin_
  std::uint64_t left_out_ = 0;
};

/// Of requests that were refused, of each I/O thread.
inline constexpr std::uint64_t refused_lines_per_second = 5;

}  // namespace hk::observe
