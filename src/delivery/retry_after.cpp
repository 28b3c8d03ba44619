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

std::optional<Millis> within_a_day(double millis) {
  if (millis > static_cast<double>(wait_max.count())) {
    return std::nullopt;
  }
  return Millis{static_cast<std::int64_t>(std::ceil(millis))};
}

std::optional<Millis> parse_duration(std::string_view text) {
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
  return within_a_day(sum);
}

}  // namespace

std::optional<Millis> parse_retry_after(std::string_view value, Moment now) {
  value = trim(value);
  if (value.empty() || value.size() > value_bytes_max) {
    return std::nullopt;
  }

  if (const auto date = parse_http_date(value)) {
    const Millis wait = *date - now;
    if (wait > wait_max) {
      return std::nullopt;
    }
    return std::max(wait, Millis{0});
  }
  std::string_view rest = value;
  if (const auto seconds = take_decimal(rest); seconds && rest.empty()) {
    return within_a_day(*seconds * 1000);
  }
  return parse_duration(value);
}

bool RetryAfter::field(std::string_view name, std::string_view value, Moment now) {
  for (int rank = 0; rank < 4; ++rank) {
    if (!equals_ignoring_case(name, names[rank])) {
      continue;
    }
    if (rank < rank_) {  // a repeated field: the first one counts
      rank_ = rank;
      wish_ = parse_retry_after(value, now);
    }
    return true;
  }
  return false;
}

}  // namespace hk::delivery
