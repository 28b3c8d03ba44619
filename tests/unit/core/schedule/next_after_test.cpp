#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/schedule/cron.h"
#include "unit/core/schedule/zones.h"

namespace hk::core {
namespace HK_TEST_FILE {

using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

Cron cron_of(std::string_view text) {
  const auto parsed = parse_cron(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
  return parsed ? parsed->cron : Cron{};
}

/// The next runs after a moment, one after the other.
std::string runs(std::string_view cron, const Zone& zone, std::string_view after, int count) {
  std::string found;
  std::optional<Moment> at = utc(after);
  for (int i = 0; i < count && at; ++i) {
    at = next_after(cron_of(cron), *at, zone);
    found += (i == 0 ? "" : " ") + show(at);
  }
  return found;
}

struct Row {
  std::string_view name;
  std::string_view cron;
  Zone zone;
  std::string_view after;
  std::string_view runs;
};

void check(const Row& row) {
  SCOPED_TRACE(row.name);
  const auto count = 1 + static_cast<int>(std::count(row.runs.begin(), row.runs.end(), ' '));
  EXPECT_EQ(runs(row.cron, row.zone, row.after, count), row.runs);
}

TEST(NextAfter, FollowsTheCalendarInUtc) {
  const Row rows[] = {
      {"every minute", "* * * * *", {}, "2024-01-01T00:00", "2024-01-01T00:01 2024-01-01T00:02"},
      {"within a minute", "* * * * *", {}, "2024-01-01T00:00:01", "2024-01-01T00:01"},
      {"the minute itself is not after", "5 * * * *", {}, "2024-01-01T00:05", "2024-01-01T01:05"},
      {"just before", "5 * * * *", {}, "2024-01-01T00:04:59", "2024-01-01T00:05"},
      {"steps",
       "*/25 * * * *",
       {},
       "2024-01-01T00:01",
       "2024-01-01T00:25 2024-01-01T00:50 2024-01-01T01:00"},
      {"over midnight",
       "30 23,1 * * *",
       {},
       "2024-01-01T12:00",
       "2024-01-01T23:30 2024-01-02T01:30"},
      {"over the end of the year", "0 0 * * *", {}, "2023-12-31T23:59", "2024-01-01T00:00"},
      {"ends of months",
       "0 0 31 * *",
       {},
       "2024-01-31T00:00",
       "2024-03-31T00:00 2024-05-31T00:00 2024-07-31T00:00 2024-08-31T00:00"},
      {"the 30th skips February", "0 0 30 * *", {}, "2024-01-30T00:00", "2024-03-30T00:00"},
      {"leap days", "0 12 29 2 *", {}, "2024-02-29T12:00", "2028-02-29T12:00 2032-02-29T12:00"},
      {"2100 is not a leap year", "0 0 29 FEB *", {}, "2096-02-29T00:00", "2104-02-29T00:00"},
      {"weekdays",
       "0 9 * * MON-FRI",
       {},
       "2024-03-01T08:00",
       "2024-03-01T09:00 2024-03-04T09:00 2024-03-05T09:00"},
      {"Sunday is 0", "0 0 * * 0", {}, "2024-03-01T00:00", "2024-03-03T00:00"},
      {"Sunday is 7", "0 0 * * 7", {}, "2024-03-01T00:00", "2024-03-03T00:00"},
      {"either day field",
       "0 0 13 * FRI",
       {},
       "2024-09-01T00:00",
       "2024-09-06T00:00 2024-09-13T00:00 2024-09-20T00:00 2024-09-27T00:00 2024-10-04T00:00 "
       "2024-10-11T00:00 2024-10-13T00:00"},
      {"one day field", "0 0 13 * ?", {}, "2024-09-01T00:00", "2024-09-13T00:00 2024-10-13T00:00"},
      {"a step restricts too",
       "0 0 */10 * TUE",
       {},
       "2024-09-01T00:00",
       "2024-09-03T00:00 2024-09-10T00:00 2024-09-11T00:00"},
      {"30 February or a Monday",
       "0 0 30 2 MON",
       {},
       "2024-02-25T00:00",
       "2024-02-26T00:00 2025-02-03T00:00"},
      {"months", "0 0 1 JAN,JUL *", {}, "2024-01-01T00:00", "2024-07-01T00:00 2025-01-01T00:00"},
      {"@yearly", "@yearly", {}, "2037-06-01T00:00", "2038-01-01T00:00 2039-01-01T00:00"},
      {"past 2038", "14 3 19 1 *", {}, "2038-01-19T03:14:07", "2039-01-19T03:14"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

TEST(NextAfter, FollowsTheClocksOfAZone) {
  const Row rows[] = {
      {"New York in winter and summer", "0 4 * * *", new_york(), "2024-03-08T12:00",
       "2024-03-09T09:00 2024-03-10T08:00 2024-03-11T08:00"},
      {"New York after 2038", "0 4 * * *", new_york(), "2050-07-01T00:00", "2050-07-01T08:00"},
      {"Berlin over the change", "30 8 * * *", berlin(), "2024-10-26T00:00",
       "2024-10-26T06:30 2024-10-27T07:30"},
      {"Dublin", "0 9 * * *", dublin(), "2024-03-30T00:00", "2024-03-30T09:00 2024-03-31T08:00"},
      {"Kolkata", "0 0 * * *", kolkata(), "2024-01-01T00:00", "2024-01-01T18:30 2024-01-02T18:30"},
      {"Kolkata by the hour", "0 * * * *", kolkata(), "2024-01-01T00:00", "2024-01-01T00:30"},
      {"Tokyo, where it is tomorrow", "0 0 1 * *", tokyo(), "2024-02-01T00:00", "2024-02-29T15:00"},
      {"Tokyo's weekday", "0 8 * * MON", tokyo(), "2024-03-01T00:00", "2024-03-03T23:00"},
      {"Sydney, whose summer is in January", "0 12 1 1,7 *", sydney(), "2024-01-02T00:00",
       "2024-07-01T02:00 2025-01-01T01:00"},
      {"Sao Paulo while it had summer time", "0 12 * * *", sao_paulo(), "2019-02-15T18:00",
       "2019-02-16T14:00 2019-02-17T15:00"},
      {"Sao Paulo after that", "0 12 * * *", sao_paulo(), "2024-12-01T00:00", "2024-12-01T15:00"},
      {"a leap day of New York", "30 23 29 2 *", new_york(), "2024-03-02T00:00",
       "2028-03-01T04:30"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

TEST(NextAfter, DoesNotRunAtATimeThatClocksJumpOver) {
  const Row rows[] = {
      {"daily, in the gap", "30 2 * * *", new_york(), "2024-03-09T00:00",
       "2024-03-09T07:30 2024-03-11T06:30"},
      {"the end of the gap exists", "0 3 * * *", new_york(), "2024-03-09T12:00",
       "2024-03-10T07:00"},
      {"some of several times", "30 1-3 * * *", new_york(), "2024-03-10T00:00",
       "2024-03-10T06:30 2024-03-10T07:30 2024-03-11T05:30"},
      {"by the quarter of an hour", "*/15 * * * *", new_york(), "2024-03-10T06:30",
       "2024-03-10T06:45 2024-03-10T07:00 2024-03-10T07:15"},
      {"by the hour", "0 * * * *", new_york(), "2024-03-10T05:30",
       "2024-03-10T06:00 2024-03-10T07:00 2024-03-10T08:00"},
      {"Berlin", "30 2 * * *", berlin(), "2024-03-30T12:00", "2024-04-01T00:30"},
      {"half an hour", "15,45 2 * * *", lord_howe(), "2024-10-05T00:00",
       "2024-10-05T15:45 2024-10-06T15:15 2024-10-06T15:45"},
      {"a midnight that does not exist", "0 0 * * *", sao_paulo(), "2018-11-03T12:00",
       "2018-11-05T02:00"},
      {"a day that does not exist", "0 0 30 12 *", apia(), "2011-01-01T00:00", "2012-12-29T11:00"},
      {"daily over a day that does not exist", "0 12 * * *", apia(), "2011-12-29T00:00",
       "2011-12-29T22:00 2011-12-30T22:00"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

TEST(NextAfter, RunsOnceAtATimeThatComesTwice) {
  const Row rows[] = {
      {"the first time", "30 1 * * *", new_york(), "2024-11-02T12:00",
       "2024-11-03T05:30 2024-11-04T06:30"},
      {"asked between the two", "30 1 * * *", new_york(), "2024-11-03T05:30", "2024-11-04T06:30"},
      {"asked in the second pass", "30 1 * * *", new_york(), "2024-11-03T06:10",
       "2024-11-04T06:30"},
      {"the edges", "0 1,2 * * *", new_york(), "2024-11-03T00:00",
       "2024-11-03T05:00 2024-11-03T07:00"},
      {"every minute of one hour", "58,59 1 * * *", new_york(), "2024-11-03T00:00",
       "2024-11-03T05:58 2024-11-03T05:59 2024-11-04T06:58"},
      {"Berlin", "30 2 * * *", berlin(), "2024-10-26T12:00", "2024-10-27T00:30 2024-10-28T01:30"},
      {"half an hour", "45 1 * * *", lord_howe(), "2024-04-06T00:00",
       "2024-04-06T14:45 2024-04-07T15:15"},
      {"before midnight", "30 23 * * *", sao_paulo(), "2019-02-16T12:00",
       "2019-02-17T01:30 2019-02-18T02:30"},
      {"Sydney", "30 2 * * *", sydney(), "2024-04-06T00:00", "2024-04-06T15:30 2024-04-07T16:30"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

TEST(NextAfter, LeavesOutNoRealHourOfAnHourlySchedule) {
  const Row rows[] = {
      {"by the hour", "0 * * * *", new_york(), "2024-11-03T04:30",
       "2024-11-03T05:00 2024-11-03T06:00 2024-11-03T07:00"},
      {"@hourly", "@hourly", berlin(), "2024-10-26T23:30",
       "2024-10-27T00:00 2024-10-27T01:00 2024-10-27T02:00"},
      {"by the half hour", "*/30 0-23 * * *", new_york(), "2024-11-03T05:00",
       "2024-11-03T05:30 2024-11-03T06:00 2024-11-03T06:30 2024-11-03T07:00"},
      {"half an hour", "*/30 * * * *", lord_howe(), "2024-04-06T14:00",
       "2024-04-06T14:30 2024-04-06T15:00 2024-04-06T15:30"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

TEST(NextAfter, RunsOnFullMinutesOfLocalTimeEvenWhereTheOffsetHasSeconds) {
  const auto monrovia = Zone::make(seconds{-2670}, {{utc("1972-01-07T00:44:30"), hours{0}}}, {});
  ASSERT_TRUE(monrovia.has_value());

  EXPECT_EQ(runs("0 * * * *", *monrovia, "1971-06-01T00:00", 2),
            "1971-06-01T00:44:30 1971-06-01T01:44:30");
}

TEST(NextAfter, GivesNothingWhereNothingCanRun) {
  // A zone whose clocks jump over the same hour of the same date every year.
  const Zone zone = by_rule("AAA0BBB,J100/2,J300/2");
  const Cron in_the_gap = cron_of("30 2 10 4 *");

  EXPECT_EQ(show(next_after(in_the_gap, utc("2024-01-01T00:00"), zone)), "never");
  EXPECT_EQ(show(next_after(cron_of("30 3 10 4 *"), utc("2024-01-01T00:00"), zone)),
            "2024-04-10T02:30");
}

TEST(NextAfter, TakesAnyMoment) {
  const Cron every_minute = cron_of("* * * * *");

  for (const Zone& zone : {Zone{}, new_york(), sao_paulo(), tokyo()}) {
    EXPECT_EQ(next_after(every_minute, Moment::min(), zone), Moment{});
    EXPECT_EQ(next_after(every_minute, moment_from_ms(-1), zone), Moment{});
    EXPECT_EQ(next_after(every_minute, Moment{}, zone), Moment{minutes{1}});
    EXPECT_EQ(next_after(every_minute, moment_from_ms(59'999), zone), Moment{minutes{1}});
    EXPECT_EQ(next_after(every_minute, never, zone), std::nullopt);
    EXPECT_EQ(next_after(every_minute, Moment::max(), zone), std::nullopt);
    EXPECT_EQ(next_after(every_minute, Moment{utc("9998-12-31T23:59")}, zone), std::nullopt);
    EXPECT_EQ(next_after(Cron{}, Moment{}, zone), std::nullopt);
  }
}

/// Evenly in a range. RapidCheck's own keeps to the beginning of the range in its first tests.
template <class T>
rc::Gen<T> among(T low, T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}

/// A field as people write them: a value, a list, a range with or without a step, or all.
rc::Gen<std::string> any_field(int low, int high) {
  const auto value = among(low, high + 1);
  return rc::gen::oneOf(
      rc::gen::just(std::string("*")), rc::gen::map(value, [](int n) { return std::to_string(n); }),
      rc::gen::map(among(1, 32), [](int n) { return "*/" + std::to_string(n); }),
      rc::gen::map(rc::gen::pair(value, value),
                   [](const std::pair<int, int>& two) {
                     return std::to_string(two.first) + "," + std::to_string(two.second);
                   }),
      rc::gen::map(rc::gen::tuple(value, value, among(1, 9)),
                   [](const std::tuple<int, int, int>& range) {
                     const auto [a, b, step] = range;
                     return std::to_string(std::min(a, b)) + "-" + std::to_string(std::max(a, b)) +
                            "/" + std::to_string(step);
                   }));
}

/// The definition, without any cleverness: whether a local time matches, field by field.
bool matches(const Cron& cron, local_seconds at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{at - day};
  const auto has = [](std::uint64_t bits, auto n) {
    return (bits & std::uint64_t{1} << static_cast<unsigned>(n)) != 0;
  };
  const bool day_matches = has(cron.days, static_cast<unsigned>(date.day()));
  const bool weekday_matches = has(cron.weekdays, std::chrono::weekday{day}.c_encoding());
  return time.seconds().count() == 0 && has(cron.minutes, time.minutes().count()) &&
         has(cron.hours, time.hours().count()) &&
         has(cron.months, static_cast<unsigned>(date.month())) &&
         (cron.either_day_field ? day_matches || weekday_matches : day_matches && weekday_matches);
}

/// Looks at every minute; no zone here puts its clocks back by more than an hour.
std::optional<sys_seconds> search_by_minute(const Cron& cron, sys_seconds after, sys_seconds until,
                                            const Zone& zone) {
  for (auto at = sys_seconds{std::chrono::floor<minutes>(after)} + minutes{1}; at < until;
       at += minutes{1}) {
    const local_seconds local_time = zone.to_local(at);
    if (!matches(cron, local_time)) {
      continue;
    }
    bool came_before = false;
    for (minutes back{1}; back <= minutes{120}; ++back) {
      came_before = came_before || zone.to_local(at - back) == local_time;
    }
    if (!came_before || std::popcount(cron.hours) == 24) {
      return at;
    }
  }
  return std::nullopt;
}

TEST(NextAfter, FindsWhatASearchByMinuteFinds) {
  const std::array zones{Zone{},   new_york(),  berlin(), dublin(), kolkata(),
                         sydney(), lord_howe(), nuuk(),   apia(),   sao_paulo()};
  EXPECT_TRUE(rc::check([&] {
    // Times of the night are more likely, because that is when clocks change.
    const auto hour =
        *rc::gen::oneOf(any_field(0, 23), any_field(0, 3), rc::gen::just(std::string("*")));
    const auto days = *rc::gen::oneOf(any_field(1, 28), rc::gen::just(std::string("*")));
    const auto months = *rc::gen::oneOf(any_field(1, 12), rc::gen::just(std::string("*")));
    const auto weekdays = *rc::gen::oneOf(any_field(0, 7), rc::gen::just(std::string("*")));
    const std::string text =
        *any_field(0, 59) + " " + hour + " " + days + " " + months + " " + weekdays;
    RC_LOG() << text << "\n";
    const Cron cron = cron_of(text);
    const Zone& zone = zones[*among<std::size_t>(0, zones.size())];
    const sys_seconds some_time = utc("2011-01-01T00:00") + hours{*among(0, 24 * 365 * 15)};
    const sys_seconds change = zone.period_at(some_time).end;
    const bool is_change_near = change < utc("2030-01-01T00:00") && *among(0, 10) != 0;
    const sys_seconds after =
        (is_change_near ? change : some_time) + seconds{*among(-90'000, 8'000)};

    // Several runs in a row, so that each is asked for from a run, as a schedule does.
    const sys_seconds until = after + hours{24 * 8};
    sys_seconds from = after;
    for (int i = 0; i < 5; ++i) {
      const auto expected = search_by_minute(cron, from, until, zone);
      const auto found = next_after(cron, Moment{from}, zone);
      RC_LOG() << "after " << show(from) << ": " << show(found) << "\n";
      if (!expected) {
        RC_ASSERT(!found || *found >= Moment{until});
        break;
      }
      RC_ASSERT(found == Moment{*expected});
      from = *expected;
    }
  }));
}

TEST(NextAfter, FindsWhatASearchByDayFindsForRareDates) {
  EXPECT_TRUE(rc::check([] {
    const std::string text =
        "30 12 " + *any_field(1, 31) + " " + *any_field(1, 12) + " " + *any_field(0, 7);
    RC_LOG() << text << "\n";
    const auto parsed = parse_cron(text);
    // Days since 1970 up to the year 2105, beyond the missing leap day of 2100.
    const std::chrono::sys_days first{std::chrono::days{*among(0, 46'000)}};

    std::optional<sys_seconds> expected;
    for (int i = 0; i < 9 * 366 && parsed && !expected; ++i) {
      const local_seconds at =
          local_days{first.time_since_epoch()} + std::chrono::days{i} + hours{12} + minutes{30};
      if (matches(parsed->cron, at)) {
        expected = sys_seconds{at.time_since_epoch()};
      }
    }

    if (parsed) {
      RC_ASSERT(expected.has_value());
      RC_ASSERT(next_after(parsed->cron, Moment{first}, Zone{}) == Moment{*expected});
    }
  }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
