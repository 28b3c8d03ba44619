/// How a time zone goes on after the last change that its table lists: standard time all year, or
/// standard and summer time that alternate on dates given by a rule. Written as the TZ variable of
/// POSIX is ("EST5EDT,M3.2.0,M11.1.0"), which is how every time-zone file ends. A plain value; used
/// by Zone, on any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace hk::core {

/// No zone is further from UTC; the time-zone files allow less (RFC 9636, 3.2).
inline constexpr std::chrono::hours zone_offset_max{26};

/// A day of the year, and the local time on (or hours before or after) it at which clocks change.
struct ChangeDay {
  enum class Kind : std::uint8_t {
    month_week_day,  ///< Mm.w.d: the w-th weekday d of the month; w = 5 is the last
    julian_day,      ///< Jn: 1 … 365; 29 February is never counted
    zero_based_day,  ///< n: 0 … 365; 29 February is counted
  };
  Kind kind = Kind::month_week_day;
  std::uint16_t day = 0;     ///< of julian_day and zero_based_day
  std::uint8_t month = 1;    ///< 1 … 12
  std::uint8_t week = 1;     ///< 1 … 5
  std::uint8_t weekday = 0;  ///< 0 = Sunday
  std::chrono::seconds time = std::chrono::hours{2};

  friend bool operator==(const ChangeDay&, const ChangeDay&) = default;
};

struct ZoneRule {
  struct Summer {
    std::chrono::seconds offset{0};
    ChangeDay begins{};  ///< in standard time
    ChangeDay ends{};    ///< in summer time

    friend bool operator==(const Summer&, const Summer&) = default;
  };
  std::chrono::seconds standard{0};  ///< local time minus UTC
  std::optional<Summer> summer{};

  friend bool operator==(const ZoneRule&, const ZoneRule&) = default;
};

/// From `at` on, local time is UTC plus `offset`.
struct ZoneChange {
  std::chrono::sys_seconds at{};
  std::chrono::seconds offset{0};

  friend bool operator==(const ZoneChange&, const ZoneChange&) = default;
};

/// The two changes that a rule with summer time gives to a year, the earlier first. When they fall
/// on the same instant, the one that counts is the second.
/// REQUIRES: rule.summer.
std::array<ZoneChange, 2> changes_of_year(const ZoneRule& rule, std::chrono::year year);

/// invalid_argument: what is not understood and where.
Result<ZoneRule> parse_zone_rule(std::string_view text);

}  // namespace hk::core
