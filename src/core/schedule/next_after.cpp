#include <algorithm>
#include <bit>

#include "core/schedule/cron.h"

namespace hk::core {

namespace {

using std::chrono::local_days;
using std::chrono::local_seconds;
using Minutes = std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr sys_seconds latest{sys_days{std::chrono::year{9999} / 1 / 1}};

bool has(std::uint64_t bits, unsigned n) { return (bits >> n & 1U) != 0; }

/// The bits from n on.
std::uint64_t from_bit(std::uint64_t bits, unsigned n) { return bits & (~std::uint64_t{0} << n); }

/// The first minute of a day that matches, at `from` or later.
std::optional<Minutes> matching_time(const Cron& cron, Minutes from) {
  const auto hour = static_cast<unsigned>(from.count() / 60);
  const auto minute = static_cast<unsigned>(from.count() % 60);
  if (has(cron.hours, hour)) {
    if (const auto rest = from_bit(cron.minutes, minute); rest != 0) {
      return Minutes{hour * 60 + static_cast<unsigned>(std::countr_zero(rest))};
    }
  }
  if (const auto rest = from_bit(cron.hours, hour + 1); rest != 0) {
    return Minutes{std::countr_zero(rest) * 60 + std::countr_zero(cron.minutes)};
  }
  return std::nullopt;
}

/// Bit n is set if the n-th of the month matches.
std::uint64_t matching_days(const Cron& cron, std::chrono::year_month month) {
  if (!has(cron.months, static_cast<unsigned>(month.month()))) {
    return 0;
  }
  // The week turned so that bit 0 is the weekday of the 1st, then repeated over the month.
  const unsigned first = std::chrono::weekday{local_days{month / 1}}.c_encoding();
  const std::uint64_t weekdays = cron.weekdays;
  const std::uint64_t week = (weekdays >> first | weekdays << (7 - first)) & 0x7FU;
  constexpr std::uint64_t every_seventh = 0x10204081;
  const std::uint64_t by_weekday = week * every_seventh << 1U;

  const auto last = static_cast<unsigned>((month / std::chrono::last).day());
  const std::uint64_t existing = (std::uint64_t{2} << last) - 2;
  const std::uint64_t days =
      cron.either_day_field ? (cron.days | by_weekday) : (cron.days & by_weekday);
  return days & existing;
}

/// The first local time that matches, at `from` or later but before `end`.
std::optional<local_seconds> first_match(const Cron& cron, local_seconds from, local_seconds end) {
  const auto start = std::chrono::ceil<Minutes>(from);
  const auto start_day = std::chrono::floor<std::chrono::days>(start);
  const std::chrono::year_month_day date{start_day};
  auto month = date.year() / date.month();
  auto day_from = static_cast<unsigned>(date.day());
  Minutes time_from = start - start_day;
  while (local_days{month / 1} < end) {
    auto days = from_bit(matching_days(cron, month), day_from);
    for (; days != 0; days &= days - 1) {
      const auto day = static_cast<unsigned>(std::countr_zero(days));
      const auto time = matching_time(cron, day == day_from ? time_from : Minutes{0});
      if (time) {
        const local_seconds match = local_days{month / std::chrono::day{day}} + *time;
        return match < end ? std::optional(match) : std::nullopt;
      }
    }
    month += std::chrono::months{1};
    day_from = 1;
    time_from = Minutes{0};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Moment> next_after(const Cron& cron, Moment after, const Zone& zone) {
  if (after >= latest || cron.minutes == 0) {
    return std::nullopt;
  }
  constexpr std::uint32_t all_hours = 0xFF'FFFF;
  const bool is_interval = cron.hours == all_hours;

  const Moment since = std::max(after, Moment{} - Millis{1});
  sys_seconds from = std::chrono::floor<std::chrono::seconds>(since) + std::chrono::seconds{1};
  const sys_seconds until =
      std::min(from + std::chrono::ceil<std::chrono::days>(cron_horizon), latest);
  while (from < until) {
    const Zone::Period period = zone.period_at(from);
    const sys_seconds end = std::min(period.end, until);
    const auto to_local = [&period](sys_seconds at) {
      return local_seconds{at.time_since_epoch()} + period.offset;
    };
    auto match = first_match(cron, to_local(from), to_local(end));
    while (match) {
      const sys_seconds at{match->time_since_epoch() - period.offset};
      if (is_interval || zone.to_utc(*match).first == at) {
        return Moment{at};
      }
      match = first_match(cron, *match + Minutes{1}, to_local(end));
    }
    from = end;
  }
  return std::nullopt;
}

}  // namespace hk::core
