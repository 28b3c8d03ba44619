/// How many rows a statement asks for. A batch that takes longer than it may is rolled back, and
/// would be tried again for ever: large payloads over a slow link, deletes with a costly cascade or
/// trigger. So fewer after one that took too long, down to one, and more again when they are quick.
/// Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/time.h"

namespace hk::outbox {

class RowsAtOnce {
 public:
  explicit RowsAtOnce(std::size_t most) : most_(most), now_(most) {}

  [[nodiscard]] std::size_t now() const { return now_; }
  void failed() { now_ = std::max<std::size_t>(now_ / 2, 1); }
  void took(std::chrono::steady_clock::duration time) {
    if (time > slow) {
      failed();
    } else if (time < quick) {
      now_ = std::min(now_ * 2, most_);
    }
  }

 private:
  static constexpr Millis slow{5'000};  ///< leases are not renewed meanwhile
  static constexpr Millis quick{1'000};

  const std::size_t most_;
  std::size_t now_;
};

}  // namespace hk::outbox
