/// Cron: which minutes a schedule runs in. Parsed when a schedule is created (to refuse a bad one)
/// and when it is loaded; asked for its next run after every run. Pure: the time and the zone's
/// rules are parameters. Any thread.
///
/// The text: five fields (minute, hour, day of month, month, day of week) or one of @hourly @daily
/// @midnight @weekly @monthly @yearly @annually, in UTC or after "CRON_TZ=Zone " ("TZ=Zone ") in an
/// IANA zone. A field is a list, by commas, of * (or ?), a value, or a range a-b, each with an
/// optional step /n; "a/n" runs from a to the end of the field, and a step larger than the field
/// gives its first value alone. Months and weekdays have English names of three letters in any
/// case; Sunday is 0 or 7. There are no seconds, L, W or #.
///
/// Days: a day field is restricted unless one of its items is a * without a step above 1. If both
/// day fields are restricted, a day that matches either will do; otherwise it must match both.
///
/// When clocks change, a run is where the local time says, with two rules:
///  - a local time that clocks jump over does not exist, so what was to run then does not run;
///  - a local time that comes twice runs once, the first time. Except for a schedule whose hour
///    field has all 24 hours: it is meant as an interval ("every 15 minutes"), so it runs in both
///    passes and no real hour is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "core/schedule/zone.h"

namespace hk::core {

inline constexpr std::size_t cron_bytes_max = 512;

/// How far next_after looks. The rarest date, 29 February, is at most eight years away; what is not
/// found in a multiple of that falls into a yearly gap of its zone and never runs.
inline constexpr std::chrono::years cron_horizon{40};

/// Bit n is set if the value n matches.
struct Cron {
  std::uint64_t minutes = 0;      ///< 0 … 59
  std::uint32_t hours = 0;        ///< 0 … 23
  std::uint32_t days = 0;         ///< 1 … 31
  std::uint16_t months = 0;       ///< 1 … 12
  std::uint8_t weekdays = 0;      ///< 0 … 6, 0 = Sunday
  bool either_day_field = false;  ///< both day fields are restricted: a match of one is enough

  friend bool operator==(const Cron&, const Cron&) = default;
};

struct ParsedCron {
  std::string text;  ///< as it is shown: with its zone, without surrounding spaces
  std::string zone;  ///< "UTC" unless the text names one; has the form of a name, may not exist
  Cron cron{};

  friend bool operator==(const ParsedCron&, const ParsedCron&) = default;
};

/// invalid_argument: names the field, what is wrong with it and what is allowed. A date that never
/// comes, like 30 February, is refused here.
Result<ParsedCron> parse_cron(std::string_view text);

/// The first run strictly after a moment, always on a full minute of local time; nothing if there
/// is none within cron_horizon or before the year 9999. A moment before 1970 counts as 1970. Goes
/// by months and changes of the clock, not by minutes: microseconds even for 29 February.
std::optional<Moment> next_after(const Cron& cron, Moment after, const Zone& zone);

}  // namespace hk::core
