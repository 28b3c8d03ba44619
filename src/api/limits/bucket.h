/// A token bucket in whole numbers. Pure: it is told what time it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/assert.h"

namespace hk::api::limits {

/// Since some moment of the process; never goes back.
using Time = std::chrono::nanoseconds;

/// A billionth of a token: a rate in tokens a second fills a bucket by as many of these each
/// nanosecond, so that nothing is ever rounded, however often somebody looks.
using Nano = std::uint64_t;
inline constexpr Nano one_token = 1'000'000'000;

/// Starts full, never holds more than its burst and never less than nothing.
class Bucket {
 public:
  /// Another rate or burst: what was taken from it stays taken, and it holds no more than there is
  /// room for. One that had no rate before starts full. REQUIRES: rate and burst are within those
  /// of core::TenantLimits.
  void set(std::uint64_t rate, std::uint64_t burst, Time now) {
    refill(now);
    const Nano before = rate_ == 0 ? 0 : full_;
    rate_ = rate;
    full_ = burst * one_token;
    level_ = full_ > before ? level_ + (full_ - before) : std::min(level_, full_);
    filled_at_ = now;
  }

  void refill(Time now) {
    if (now <= filled_at_ || rate_ == 0) {
      return;
    }
    const auto passed = static_cast<std::uint64_t>((now - filled_at_).count());
    filled_at_ = now;
    const Nano room = full_ - level_;
    level_ = passed > room / rate_ ? full_ : level_ + passed * rate_;
  }

  /// REQUIRES: it holds them.
  void take(Nano cost) {
    HK_ASSERT(cost <= level_);
    level_ -= cost;
  }
  void give_back(Nano cost) { level_ += std::min(cost, full_ - level_); }

  [[nodiscard]] bool limits() const { return rate_ != 0; }
  [[nodiscard]] Nano level() const { return level_; }
  [[nodiscard]] Nano full() const { return full_; }
  [[nodiscard]] std::uint64_t rate() const { return rate_; }
  /// How long it takes until it holds so much, if nobody takes anything. REQUIRES: it limits.
  [[nodiscard]] Time until(Nano wanted) const {
    const Nano reached = std::min(wanted, full_);
    const Nano missing = reached - std::min(reached, level_);
    return Time{static_cast<Time::rep>((missing + rate_ - 1) / rate_)};
  }

 private:
  std::uint64_t rate_ = 0;  ///< 0: it limits nothing
  Nano full_ = 0;
  Nano level_ = 0;
  Time filled_at_{};
};

}  // namespace hk::api::limits
