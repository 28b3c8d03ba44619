#include "api/aws/amz_date.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "security/sigv4.h"

namespace hk::api::aws {

namespace {

constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// REQUIRES: the places are inside `text`.
std::optional<unsigned> digits(std::string_view text, std::size_t at, std::size_t count) {
  unsigned value = 0;
  for (const char c : text.substr(at, count)) {
    if (!is_digit(c)) {
      return std::nullopt;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

std::optional<Moment> make_moment(std::optional<unsigned> year, std::optional<unsigned> month,
                                  std::optional<unsigned> day, std::optional<unsigned> hour,
                                  std::optional<unsigned> minute, std::optional<unsigned> second) {
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23 || *minute > 59 ||
      *second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) {
    return std::nullopt;
  }
  return Moment(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

}  // namespace

std::string amz_date(Moment moment) { return security::amz_date(moment); }

std::optional<Moment> parse_amz_date(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') {
    return std::nullopt;
  }
  return make_moment(digits(text, 0, 4), digits(text, 4, 2), digits(text, 6, 2), digits(text, 9, 2),
                     digits(text, 11, 2), digits(text, 13, 2));
}

std::optional<Moment> parse_http_date(std::string_view text) {
  if (text.size() != 29 || text[3] != ',' || text[4] != ' ' || text[7] != ' ' || text[11] != ' ' ||
      text[16] != ' ' || text[19] != ':' || text[22] != ':' || !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const auto month = std::ranges::find(months, text.substr(8, 3));
  if (month == months.end()) {
    return std::nullopt;
  }
  return make_moment(digits(text, 12, 4), static_cast<unsigned>(month - months.begin()) + 1,
                     digits(text, 5, 2), digits(text, 17, 2), digits(text, 20, 2),
                     digits(text, 23, 2));
}

}  // namespace hk::api::aws
