#include "base/duration.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/ascii.h"

namespace hk {

namespace {

std::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(ErrorKind::invalid_argument,
              "\"" + std::string(text) +
                  "\" is not a duration: write a number and a unit (ms, s, m, h or d), like 500ms, "
                  "10s or 1d10h30m");
}

std::unexpected<Error> too_long(std::string_view text) {
  return fail(ErrorKind::invalid_argument,
              "\"" + std::string(text) + "\" is longer than 100 years");
}

/// A decimal number at the front of `text`, which is moved behind it.
struct Decimal {
  std::int64_t whole = 0;
  double fraction = 0;
};
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failed] = std::from_chars(begin, end, number.whole);
  if (failed != std::errc{} || text.front() == '-') {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - begin));
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) {
      return std::nullopt;
    }
    double scale = 0.1;
    while (!text.empty() && is_digit(text.front())) {
      number.fraction += scale * (text.front() - '0');
      scale /= 10;
      text.remove_prefix(1);
    }
  }
  return number;
}

/// The milliseconds of the unit at the front of `text`, which is moved behind it; 0: there is none.
std::int64_t take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    std::int64_t ms;
  };
  constexpr Unit units[] = {// "ms" stands before "m": the longer name is tried first
                            {"ms", 1},
                            {"s", 1'000},
                            {"m", 60'000},
                            {"h", 3'600'000},
                            {"d", 86'400'000}};
  for (const Unit& unit : units) {
    if (text.starts_with(unit.name)) {
      text.remove_prefix(unit.name.size());
      return unit.ms;
    }
  }
  return 0;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text, BareNumber bare) {
  if (text == "0") {
    return Millis{0};
  }
  std::string_view left = text;
  std::int64_t total = 0;
  bool first = true;
  do {
    const std::optional<Decimal> number = take_decimal(left);
    if (!number) {
      return not_a_duration(text);
    }
    const bool alone = first && left.empty() && bare == BareNumber::seconds;
    const std::int64_t unit = alone ? 1'000 : take_unit(left);
    if (unit == 0) {
      return not_a_duration(text);
    }
    if (number->whole > duration_max.count() / unit) {
      return too_long(text);
    }
    total += number->whole * unit;
    total += std::llround(number->fraction * static_cast<double>(unit));
    if (total > duration_max.count()) {
      return too_long(text);
    }
    first = false;
  } while (!left.empty());
  return Millis{total};
}

}  // namespace hk
