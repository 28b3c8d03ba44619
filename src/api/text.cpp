#include "api/text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/ascii.h"

namespace hk::api {

namespace {

std::int64_t unit_ms(char unit) {
  switch (unit) {
    case 's': return 1'000;
    case 'm': return 60'000;
    case 'h': return 3'600'000;
    case 'd': return 86'400'000;
    default: return 0;
  }
}

std::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(
      ErrorKind::invalid_argument,
      "\"" + std::string(text) +
          "\" is not a duration: write a number and a unit (s, m, h or d), like 10s or 1d10h30m");
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
  if (failed != std::errc{} || text.front() == '-' || number.whole > duration_max.count()) {
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

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  std::string_view left = text;
  if (left.empty()) {
    return not_a_duration(text);
  }
  std::int64_t total = 0;
  bool first = true;
  while (!left.empty()) {
    const std::optional<Decimal> number = take_decimal(left);
    if (!number) {
      return not_a_duration(text);
    }
    std::int64_t unit = 0;
    if (left.empty()) {
      unit = first ? 1'000 : 0;  // a bare number is seconds, but only on its own
    } else {
      unit = unit_ms(left.front());
      left.remove_prefix(1);
    }
    if (unit == 0) {
      return not_a_duration(text);
    }
    if (number->whole > duration_max.count() / unit) {
      return fail(ErrorKind::invalid_argument,
                  "\"" + std::string(text) + "\" is longer than 100 years");
    }
    total += number->whole * unit;
    total += std::llround(number->fraction * static_cast<double>(unit));
    if (total > duration_max.count()) {
      return fail(ErrorKind::invalid_argument,
                  "\"" + std::string(text) + "\" is longer than 100 years");
    }
    first = false;
  }
  return Millis{total};
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string lowered = to_lower(text);
  if (lowered == "true") {
    return true;
  }
  if (lowered == "false") {
    return false;
  }
  return std::nullopt;
}

bool valid_name(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !is_digit(c) && c != '.' && c != '_' && c != '-') {
      return false;
    }
  }
  return !text.empty();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trim(text.substr(0, comma));
    if (!part.empty()) {
      parts.emplace_back(part);
    }
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string to_lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    c = hk::to_lower(c);
  }
  return lowered;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) {
    return false;
  }
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (hk::to_lower(text[i]) != hk::to_lower(prefix[i])) {
      return false;
    }
  }
  return true;
}

std::string rfc3339(Moment moment) {
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss<Millis> time{moment - day};
  std::string text(40, '\0');
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
      static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
      static_cast<int>(time.subseconds().count()));
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

}  // namespace hk::api
