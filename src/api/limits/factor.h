/// By how much the server tightens its limits by itself: the less, the busier it is and the more of
/// its own answers fail. All shares are in millionths. Pure: it is told what time it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "api/limits/bucket.h"

namespace hk::api::limits {

using Millionths = std::uint32_t;
inline constexpr Millionths all_of_it = 1'000'000;

/// How much there was to answer since the start, and how much of that was our own fault (5xx). What
/// the limiter refuses is not: it would tighten itself for ever.
struct Answered {
  std::uint64_t all = 0;
  std::uint64_t failed = 0;
};

class Factor {
 public:
  static constexpr Millionths least = 100'000;
  static constexpr Millionths load_free = 800'000;  ///< up to this it stays 1
  static constexpr Millionths failed_free = 50'000;
  static constexpr Millionths failed_worst = 500'000;  ///< from this on it is the least
  static constexpr Millionths fall_a_second = 200'000;
  static constexpr Millionths rise_a_second = 50'000;
  static constexpr Time errors_of = std::chrono::seconds{60};
  static constexpr std::uint64_t answers_min = 100;  ///< fewer say nothing

  /// Every second or so. `load` above 1 counts as 1.
  void measure(Time now, std::uint64_t load, const Answered& answered);

  [[nodiscard]] Millionths value() const { return value_; }
  [[nodiscard]] Millionths load() const { return load_; }
  [[nodiscard]] Millionths error_rate() const { return error_rate_; }

 private:
  void count(Time now, const Answered& answered);
  [[nodiscard]] Millionths wanted() const;

  struct Sample {
    Time at{};
    Answered answered{};
  };
  std::deque<Sample> samples_;  ///< of the last `errors_of`, and one that is older
  Time measured_at_{};
  bool measured_ = false;
  Millionths value_ = all_of_it;
  Millionths load_ = 0;
  Millionths error_rate_ = 0;
};

}  // namespace hk::api::limits
