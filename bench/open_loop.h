/// The plan of an open loop: request i is meant for start + i / rate, whether or not anybody is
/// free to send it then, and its latency counts from that moment (no coordinated omission). Its
/// owner polls the timer, and takes what is due.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>

#include "wire.h"

namespace hk::bench {

class OpenLoop {
 public:
  OpenLoop() = default;
  ~OpenLoop() {
    if (timer_ >= 0) {
      close(timer_);
    }
  }
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  /// Returns the timer: readable when the next request is meant to be sent.
  int start(std::int64_t rate, std::int64_t start_ns, std::int64_t until_ns) {
    rate_ = static_cast<double>(rate);
    start_ns_ = start_ns;
    until_ns_ = until_ns;
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    arm();
    return timer_;
  }
  /// The timer was readable: it is not any more, and what is due by now waits to be taken.
  void on_timer() {
    std::uint64_t expirations = 0;
    if (read(timer_, &expirations, sizeof expirations) < 0 && errno != EAGAIN) {
      die("the timer of the open loop failed");
    }
    armed_ = false;
    plan();
  }
  void plan() {
    for (const std::int64_t until = std::min(now_ns(), until_ns_ - 1); next() <= until;) {
      waiting_.push_back(next());
      ++planned_;
    }
  }
  /// Once for the next request, if there is one.
  void arm() {
    if (armed_ || next() >= until_ns_) {
      return;
    }
    armed_ = true;
    itimerspec when{};
    when.it_value.tv_sec = next() / 1'000'000'000;
    when.it_value.tv_nsec = next() % 1'000'000'000;
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  }

  /// Requests that are due and were not taken.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// When it was meant to be sent. REQUIRES: waiting() > 0.
  std::int64_t take() {
    const std::int64_t meant = waiting_.front();
    waiting_.pop_front();
    return meant;
  }

 private:
  [[nodiscard]] std::int64_t next() const {
    return start_ns_ + static_cast<std::int64_t>(static_cast<double>(planned_) * 1e9 / rate_);
  }

  int timer_ = -1;
  bool armed_ = false;
  double rate_ = 1;
  std::int64_t start_ns_ = 0;
  std::int64_t until_ns_ = 0;
  std::uint64_t planned_ = 0;
  std::deque<std::int64_t> waiting_{};  ///< when they were meant
};

}  // namespace hk::bench
