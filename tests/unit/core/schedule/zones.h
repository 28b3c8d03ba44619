/// Instants written as texts, and time zones written by hand, for the tests of schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/schedule/zone.h"

namespace hk::core {

/// "2024-03-10T06:59" or "2024-03-10T06:59:30", in UTC.
inline std::chrono::sys_seconds utc(std::string_view text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const int read = std::sscanf(std::string(text).c_str(), "%d-%u-%uT%d:%d:%d", &year, &month, &day,
                               &hour, &minute, &second);
  if (read < 5) {
    ADD_FAILURE() << "not a time: " << text;
  }
  return std::chrono::sys_days{std::chrono::year{year} / std::chrono::month{month} /
                               std::chrono::day{day}} +
         std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
}

inline std::chrono::local_seconds local(std::string_view text) {
  return std::chrono::local_seconds{utc(text).time_since_epoch()};
}

inline std::string show(std::chrono::sys_seconds at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{at - day};
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()));
  std::string shown = text;
  if (time.seconds().count() != 0) {
    std::snprintf(text, sizeof text, ":%02d", static_cast<int>(time.seconds().count()));
    shown += text;
  }
  return shown;
}

inline std::string show(std::optional<Moment> at) {
  return at ? show(std::chrono::floor<std::chrono::seconds>(*at)) : "never";
}

/// Before the changes it has the rule's standard time, unless told otherwise.
inline Zone by_rule(std::string_view text, std::vector<ZoneChange> changes = {},
                    std::optional<std::chrono::seconds> initial = {}) {
  const auto rule = parse_zone_rule(text);
  if (!rule) {
    ADD_FAILURE() << text << ": " << rule.error().message;
    return {};
  }
  auto zone = Zone::make(initial.value_or(rule->standard), std::move(changes), *rule);
  if (!zone) {
    ADD_FAILURE() << text << ": " << zone.error().message;
    return {};
  }
  return *zone;
}

inline Zone new_york() { return by_rule("EST5EDT,M3.2.0,M11.1.0"); }
inline Zone berlin() { return by_rule("CET-1CEST,M3.5.0,M10.5.0/3"); }
inline Zone dublin() { return by_rule("IST-1GMT0,M10.5.0,M3.5.0/1"); }
inline Zone kolkata() { return by_rule("IST-5:30"); }
inline Zone tokyo() { return by_rule("JST-9"); }
inline Zone sydney() { return by_rule("AEST-10AEDT,M10.1.0,M4.1.0/3"); }
inline Zone lord_howe() { return by_rule("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"); }
inline Zone nuuk() { return by_rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"); }

/// Clocks changed at midnight, for the last time in 2019.
inline Zone sao_paulo() {
  using std::chrono::hours;
  return by_rule("<-03>3", {{utc("2017-10-15T03:00"), hours{-2}},
                            {utc("2018-02-18T02:00"), hours{-3}},
                            {utc("2018-11-04T03:00"), hours{-2}},
                            {utc("2019-02-17T02:00"), hours{-3}}});
}

/// Went from one side of the date line to the other: there was no 30 December 2011.
inline Zone apia() {
  using std::chrono::hours;
  return by_rule("<+13>-13",
                 {{utc("2011-09-24T14:00"), hours{-10}},
                  {utc("2011-12-30T10:00"), hours{14}},
                  {utc("2012-03-31T14:00"), hours{13}}},
                 hours{-11});
}

}  // namespace hk::core
