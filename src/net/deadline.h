/// When a request has to be over: a time that can be brought forward from another thread meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace hk::net {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  /// How soon it is noticed that `latest` has changed.
  static constexpr std::chrono::milliseconds slice{50};

  Deadline(Clock::time_point first, const std::atomic<Clock::time_point>& latest)
      : first_(first), latest_(latest) {}
  [[nodiscard]] bool passed() const { return Clock::now() >= until(); }
  /// Wait until then, and ask again.
  [[nodiscard]] Clock::time_point next_look() const {
    return std::min(until(), Clock::now() + slice);
  }

 private:
  [[nodiscard]] Clock::time_point until() const {
    return std::min(first_, latest_.load(std::memory_order_relaxed));
  }
  const Clock::time_point first_;
  const std::atomic<Clock::time_point>& latest_;
};

}  // namespace hk::net
