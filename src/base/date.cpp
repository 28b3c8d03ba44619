#include "base/date.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace hk {
namespace {

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// At least so many: years beyond 9999 can be stored.
void append_digits(std::string& out, unsigned value, std::size_t count) {
  const std::string digits = std::to_string(value);
  out.append(count - std::min(count, digits.size()), '0').append(digits);
}

/// A moment in the parts of a calendar.
struct Parts {
  explicit Parts(Moment moment)
      : days(std::chrono::floor<std::chrono::days>(moment)), date(days), time(moment - days) {}

  void append_date(std::string& out, std::string_view between) const {
    append_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
    out.append(between);
    append_digits(out, static_cast<unsigned>(date.month()), 2);
    out.append(between);
    append_digits(out, static_cast<unsigned>(date.day()), 2);
  }
  void append_time(std::string& out, std::string_view between) const {
    append_digits(out, static_cast<unsigned>(time.hours().count()), 2);
    out.append(between);
    append_digits(out, static_cast<unsigned>(time.minutes().count()), 2);
    out.append(between);
    append_digits(out, static_cast<unsigned>(time.seconds().count()), 2);
  }
  void append(std::string& out, std::string_view in_date, std::string_view in_time) const {
    append_date(out, in_date);
    out.push_back('T');
    append_time(out, in_time);
  }

  std::chrono::sys_days days;
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Millis> time;
};

/// Every 'd' of `shape` is a digit of `text`, every 'a' anything, and the rest as it is.
bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 'd' ? !is_digit(text[i]) : shape[i] != 'a' && shape[i] != text[i]) {
      return false;
    }
  }
  return true;
}

/// REQUIRES: these places hold digits.
unsigned number_at(std::string_view text, std::size_t at, std::size_t count) {
  unsigned value = 0;
  for (const char c : text.substr(at, count)) {
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

/// Which of the three-letter names it is, from 0.
std::optional<unsigned> find_name(std::string_view names, std::string_view name) {
  const std::size_t at = names.find(name);
  if (at == std::string_view::npos || at % 3 != 0) {
    return std::nullopt;
  }
  return static_cast<unsigned>(at / 3);
}

std::optional<Moment> make_moment(const std::chrono::year_month_day& date, unsigned hour,
                                  unsigned minute, unsigned second) {
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  return Moment(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

}  // namespace

std::string rfc3339(Moment moment) {
  const Parts parts(moment);
  std::string out;
  parts.append(out, "-", ":");
  out.push_back('.');
  append_digits(out, static_cast<unsigned>(parts.time.subseconds().count()), 3);
  out.push_back('Z');
  return out;
}

void append_rfc3339(std::string& out, NanoMoment moment) {
  using namespace std::chrono;
  const auto days_since = floor<days>(moment);
  const year_month_day date(days_since);
  const hh_mm_ss<nanoseconds> time(moment - days_since);
  char text[] = "0000-00-00T00:00:00.000000000Z";
  const auto put = [&text](std::size_t at, std::size_t count, std::int64_t value) {
    for (std::size_t i = count; i > 0; --i, value /= 10) {
      text[at + i - 1] = static_cast<char>('0' + value % 10);
    }
  };
  put(0, 4, static_cast<int>(date.year()));
  put(5, 2, static_cast<unsigned>(date.month()));
  put(8, 2, static_cast<unsigned>(date.day()));
  put(11, 2, time.hours().count());
  put(14, 2, time.minutes().count());
  put(17, 2, time.seconds().count());
  put(20, 9, time.subseconds().count());
  out.append(text, sizeof(text) - 1);
}

std::optional<NanoMoment> parse_rfc3339(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-ddadd:dd:dd";
  if (text.size() <= shape.size() || !has_shape(text.substr(0, shape.size()), shape) ||
      to_lower(text[10]) != 't') {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number_at(text, 0, 4))),
                                         std::chrono::month(number_at(text, 5, 2)),
                                         std::chrono::day(number_at(text, 8, 2))};
  const auto moment =
      make_moment(date, number_at(text, 11, 2), number_at(text, 14, 2), number_at(text, 17, 2));
  std::string_view rest = text.substr(shape.size());
  std::int64_t ns = 0;
  if (rest.starts_with('.')) {
    std::size_t digits = 0;
    for (rest.remove_prefix(1); digits < rest.size() && is_digit(rest[digits]); ++digits) {
      ns = digits < 9 ? ns * 10 + (rest[digits] - '0') : ns;
    }
    if (digits == 0 || digits > 9) {
      return std::nullopt;
    }
    for (std::size_t i = digits; i < 9; ++i) {
      ns *= 10;
    }
    rest.remove_prefix(digits);
  }
  std::chrono::minutes offset{0};
  if (has_shape(rest, "add:dd") && (rest[0] == '+' || rest[0] == '-') &&
      number_at(rest, 1, 2) <= 23 && number_at(rest, 4, 2) <= 59) {
    offset = std::chrono::minutes(number_at(rest, 1, 2) * 60 + number_at(rest, 4, 2));
    offset = rest[0] == '-' ? -offset : offset;
  } else if (rest != "Z" && rest != "z") {
    return std::nullopt;
  }
  // A year less than 64 bits reach, so that the sum below cannot overflow.
  if (!moment || date.year() < std::chrono::year(1678) || date.year() > std::chrono::year(2261)) {
    return std::nullopt;
  }
  return NanoMoment(*moment - offset) + std::chrono::nanoseconds(ns);
}

std::string basic_date(Moment moment) {
  const Parts parts(moment);
  std::string out;
  parts.append(out, "", "");
  out.push_back('Z');
  return out;
}

std::optional<Moment> parse_basic_date(std::string_view text) {
  if (!has_shape(text, "ddddddddTddddddZ")) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number_at(text, 0, 4))),
                                         std::chrono::month(number_at(text, 4, 2)),
                                         std::chrono::day(number_at(text, 6, 2))};
  return make_moment(date, number_at(text, 9, 2), number_at(text, 11, 2), number_at(text, 13, 2));
}

void append_http_date(std::string& out, Moment moment) {
  const Parts parts(moment);
  out.append(day_names.substr(std::chrono::weekday(parts.days).c_encoding() * 3, 3)).append(", ");
  append_digits(out, static_cast<unsigned>(parts.date.day()), 2);
  out.push_back(' ');
  out.append(month_names.substr((static_cast<unsigned>(parts.date.month()) - 1) * 3, 3));
  out.push_back(' ');
  append_digits(out, static_cast<unsigned>(static_cast<int>(parts.date.year())), 4);
  out.push_back(' ');
  parts.append_time(out, ":");
  out.append(" GMT");
}

std::optional<Moment> parse_http_date(std::string_view text) {
  if (!has_shape(text, "aaa, dd aaa dddd dd:dd:dd GMT")) {
    return std::nullopt;
  }
  const auto weekday = find_name(day_names, text.substr(0, 3));
  const auto month = find_name(month_names, text.substr(8, 3));
  if (!weekday || !month) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(number_at(text, 12, 4))), std::chrono::month(*month + 1),
      std::chrono::day(number_at(text, 5, 2))};
  return make_moment(date, number_at(text, 17, 2), number_at(text, 20, 2), number_at(text, 23, 2));
}

}  // namespace hk
