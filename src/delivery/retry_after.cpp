#include "delivery/retry_after.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "base/date.h"

namespace hk::delivery {
namespace {

constexpr Millis wait_max = std::chrono::hours(24);
constexpr Millis far_away = std::chrono::days(365);
constexpr std::size_t value_bytes_max = 64;

constexpr std::string_view names[] = {"Retry-After", "X-RateLimit-Reset",
                                      "X-RateLimit-Reset-Requests", "X-RateLimit-Reset-Tokens"};

/// Digits with an optional fraction, taken off the front; nullopt leaves `text` alone.
std::optional<double> take_decimal(std::string_view& text) {
  std::size_t size = 0;
  bool digits = false;
  bool point = false;
  for (; size < text.size(); ++size) {
    if (is_digit(text[size])) {
      digits = true;
    } else if (text[size] == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (!digits) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + size, value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + size || !std::isfinite(value)) {
    return std::nullopt;
  }
  text.remove_prefix(size);
  return value;
}

Millis rounded_up(double millis) {
  return Millis{static_cast<std::int64_t>(
      std::ceil(std::min(millis, static_cast<double>(far_away.count()))))};
}

std::optional<double> duration_millis(std::string_view text) {
  struct Unit {
    std::string_view name;
    double millis;
  };
  // "ms" stands before "m": the longer name is tried first.
  constexpr Unit units[] = {{"ns", 1e-6}, {"us", 1e-3}, {"\xc2\xb5s", 1e-3}, {"\xce\xbcs", 1e-3},
                            {"ms", 1},    {"s", 1000},  {"m", 60'000},       {"h", 3'600'000}};
  double sum = 0;
  while (!text.empty()) {
    const auto number = take_decimal(text);
    if (!number) {
      return std::nullopt;
    }
    const auto* unit =
        std::ranges::find_if(units, [&](const Unit& one) { return text.starts_with(one.name); });
    if (unit == std::end(units)) {
      return std::nullopt;
    }
    text.remove_prefix(unit->name.size());
    sum += *number * unit->millis;
  }
  return sum;
}

/// At most far_away.
std::optional<Millis> parse_wait(std::string_view value, Moment now) {
  value = trim(value);
  if (value.empty() || value.size() > value_bytes_max) {
    return std::nullopt;
  }

  if (const auto date = parse_http_date(value)) {
    return std::clamp<Millis>(*date - now, Millis{0}, far_away);
  }
  std::string_view rest = value;
  if (const auto seconds = take_decimal(rest); seconds && rest.empty()) {
    return rounded_up(*seconds * 1000);
  }
  const auto millis = duration_millis(value);
  return millis ? std::optional(rounded_up(*millis)) : std::nullopt;
}

}  // namespace

std::optional<Millis> parse_retry_after(std::string_view value, Moment now) {
  const auto wait = parse_wait(value, now);
  return wait && *wait <= wait_max ? wait : std::nullopt;
}

bool RetryAfter::field(std::string_view name, std::string_view value, Moment now) {
  for (int rank = 0; rank < 4; ++rank) {
    if (!equals_ignoring_case(name, names[rank])) {
      continue;
    }
    if (rank < rank_) {  // a repeated field: the first one counts
      rank_ = rank;
      const auto wait = parse_wait(value, now);
      wish_ = wait && *wait <= wait_max ? wait : std::nullopt;
      if (rank == 0 && wait) {
        asked_ = std::chrono::ceil<std::chrono::seconds>(*wait);
      }
    }
    return true;
  }
  return false;
}

}  // namespace hk::delivery
