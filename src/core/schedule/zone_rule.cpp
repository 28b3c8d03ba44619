#include "core/schedule/zone_rule.h"

#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/assert.h"

namespace hk::core {

namespace {

using std::chrono::days;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

sys_days date_of(const ChangeDay& change, std::chrono::year year) {
  const sys_days new_year{year / 1 / 1};
  switch (change.kind) {
    case ChangeDay::Kind::month_week_day: {
      const auto month = year / std::chrono::month{change.month};
      const std::chrono::weekday weekday{change.weekday};
      if (change.week == 5) {
        return sys_days{month / weekday[std::chrono::last]};
      }
      return sys_days{month / weekday[change.week]};
    }
    case ChangeDay::Kind::julian_day: {
      constexpr int february_28 = 59;
      const int skipped = year.is_leap() && change.day > february_28 ? 1 : 0;
      return new_year + days{change.day - 1 + skipped};
    }
    case ChangeDay::Kind::zero_based_day: return new_year + days{change.day};
  }
  std::unreachable();
}

/// Reads the text from left to right; the first thing not understood is kept with its position.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  Result<ZoneRule> read() {
    ZoneRule rule;
    seconds west{0};
    if (!name() || !time(24, west)) {
      return error();
    }
    rule.standard = -west;
    if (at_ == text_.size()) {
      return rule;
    }

    ZoneRule::Summer summer{.offset = rule.standard + std::chrono::hours{1}};
    if (!name()) {
      return error();
    }
    if (peek() != ',') {
      if (!time(24, west)) {
        return error();
      }
      summer.offset = -west;
    }
    if (!change(summer.begins) || !change(summer.ends) || at_ != text_.size()) {
      return error();
    }
    rule.summer = summer;
    return rule;
  }

 private:
  [[nodiscard]] std::unexpected<Error> error() const {
    return fail(ErrorKind::invalid_argument,
                "the time zone rule is not understood from its byte " + std::to_string(at_ + 1) +
                    " on; it should be like CET-1CEST,M3.5.0,M10.5.0/3");
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    ++at_;
    return true;
  }

  /// Three letters or more, or anything of letters, digits and signs between < and >.
  bool name() {
    const std::size_t begin = at_;
    if (take('<')) {
      while (is_letter(peek()) || is_digit(peek()) || peek() == '+' || peek() == '-') {
        ++at_;
      }
      return at_ - begin > 3 && take('>');
    }
    while (is_letter(peek())) {
      ++at_;
    }
    return at_ - begin >= 3;
  }

  bool number(int low, int high, int& value) {
    const std::size_t begin = at_;
    value = 0;
    while (is_digit(peek()) && at_ - begin < 3) {
      value = value * 10 + (peek() - '0');
      ++at_;
    }
    return at_ > begin && value >= low && value <= high;
  }

  /// [+-]hh[:mm[:ss]]
  bool time(int hours_max, seconds& value) {
    const bool negative = take('-');
    if (!negative) {
      take('+');
    }
    int hours = 0;
    int minutes = 0;
    int rest = 0;
    if (!number(0, hours_max, hours)) {
      return false;
    }
    if (take(':') && (!number(0, 59, minutes) || (take(':') && !number(0, 59, rest)))) {
      return false;
    }
    value = std::chrono::hours{hours} + std::chrono::minutes{minutes} + seconds{rest};
    value = negative ? -value : value;
    return true;
  }

  bool change(ChangeDay& change) {
    if (!take(',') || !date(change)) {
      return false;
    }
    constexpr int hours_max = 167;  // RFC 9636, 3.3.1: up to a week before or after the day
    return !take('/') || time(hours_max, change.time);
  }

  bool date(ChangeDay& change) {
    int day = 0;
    if (take('J')) {
      change.kind = ChangeDay::Kind::julian_day;
      const bool understood = number(1, 365, day);
      change.day = static_cast<std::uint16_t>(day);
      return understood;
    }
    if (!take('M')) {
      change.kind = ChangeDay::Kind::zero_based_day;
      const bool understood = number(0, 365, day);
      change.day = static_cast<std::uint16_t>(day);
      return understood;
    }
    int month = 0;
    int week = 0;
    if (!number(1, 12, month) || !take('.') || !number(1, 5, week) || !take('.') ||
        !number(0, 6, day)) {
      return false;
    }
    change.kind = ChangeDay::Kind::month_week_day;
    change.month = static_cast<std::uint8_t>(month);
    change.week = static_cast<std::uint8_t>(week);
    change.weekday = static_cast<std::uint8_t>(day);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::array<ZoneChange, 2> changes_of_year(const ZoneRule& rule, std::chrono::year year) {
  HK_ASSERT(rule.summer.has_value());
  const ZoneRule::Summer& summer = *rule.summer;
  const ZoneChange begins{
      .at = sys_seconds{date_of(summer.begins, year)} + summer.begins.time - rule.standard,
      .offset = summer.offset};
  const ZoneChange ends{
      .at = sys_seconds{date_of(summer.ends, year)} + summer.ends.time - summer.offset,
      .offset = rule.standard};
  if (begins.at < ends.at) {
    return {begins, ends};
  }
  return {ends, begins};
}

Result<ZoneRule> parse_zone_rule(std::string_view text) { return RuleReader(text).read(); }

}  // namespace hk::core
