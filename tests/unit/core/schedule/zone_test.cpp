#include "core/schedule/zone.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "unit/core/schedule/zones.h"

namespace hk::core {
namespace HK_TEST_FILE {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_seconds;

/// The offsets were computed with Python's zoneinfo from the time-zone data 2025b.
TEST(Zone, GivesTheOffsetsThatTheWorldUses) {
  struct Row {
    std::string_view name;
    Zone zone;
    std::string_view at;
    int offset;
  };
  const Row rows[] = {
      {"New York", new_york(), "2024-03-10T06:59:59", -18000},
      {"New York", new_york(), "2024-03-10T07:00:00", -14400},
      {"New York", new_york(), "2024-11-03T05:59:59", -14400},
      {"New York", new_york(), "2024-11-03T06:00:00", -18000},
      {"New York", new_york(), "2038-03-14T07:00:00", -14400},
      {"New York", new_york(), "2100-11-07T05:59:59", -14400},
      {"New York", new_york(), "2100-11-07T06:00:00", -18000},
      {"New York", new_york(), "2500-07-04T12:00:00", -14400},
      {"Berlin", berlin(), "2024-03-31T00:59:59", 3600},
      {"Berlin", berlin(), "2024-03-31T01:00:00", 7200},
      {"Berlin", berlin(), "2024-10-27T00:59:59", 7200},
      {"Berlin", berlin(), "2024-10-27T01:00:00", 3600},
      {"Berlin", berlin(), "2050-08-01T00:00:00", 7200},
      {"Dublin, whose summer time is called standard", dublin(), "2024-01-15T00:00:00", 0},
      {"Dublin, whose summer time is called standard", dublin(), "2024-03-31T01:00:00", 3600},
      {"Dublin, whose summer time is called standard", dublin(), "2024-10-27T01:00:00", 0},
      {"Kolkata", kolkata(), "2024-06-01T00:00:00", 19800},
      {"Tokyo", tokyo(), "2090-01-01T00:00:00", 32400},
      {"Lord Howe, by half an hour", lord_howe(), "2024-04-06T14:59:59", 39600},
      {"Lord Howe, by half an hour", lord_howe(), "2024-04-06T15:00:00", 37800},
      {"Lord Howe, by half an hour", lord_howe(), "2024-10-05T15:29:59", 37800},
      {"Lord Howe, by half an hour", lord_howe(), "2024-10-05T15:30:00", 39600},
      {"Sydney", sydney(), "2024-04-06T15:59:59", 39600},
      {"Sydney", sydney(), "2024-04-06T16:00:00", 36000},
      {"Sydney", sydney(), "2024-10-05T16:00:00", 39600},
      {"Sydney over the new year", sydney(), "2098-12-31T23:59:59", 39600},
      {"Sydney over the new year", sydney(), "2099-01-01T00:00:00", 39600},
      {"Nuuk, whose change is on the day before", nuuk(), "2024-03-31T00:59:59", -7200},
      {"Nuuk, whose change is on the day before", nuuk(), "2024-03-31T01:00:00", -3600},
      {"Nuuk, whose change is on the day before", nuuk(), "2040-10-28T00:59:59", -3600},
      {"Nuuk, whose change is on the day before", nuuk(), "2040-10-28T01:00:00", -7200},
      {"Sao Paulo", sao_paulo(), "2018-11-04T02:59:59", -10800},
      {"Sao Paulo", sao_paulo(), "2018-11-04T03:00:00", -7200},
      {"Sao Paulo", sao_paulo(), "2019-02-17T01:59:59", -7200},
      {"Sao Paulo", sao_paulo(), "2019-02-17T02:00:00", -10800},
      {"Sao Paulo without summer time", sao_paulo(), "2019-12-01T00:00:00", -10800},
      {"Sao Paulo without summer time", sao_paulo(), "2045-12-01T00:00:00", -10800},
      {"Apia", apia(), "2011-12-30T09:59:59", -36000},
      {"Apia", apia(), "2011-12-30T10:00:00", 50400},
      {"UTC", Zone{}, "2024-07-01T00:00:00", 0},
      {"before the table", sao_paulo(), "1999-07-01T00:00:00", -10800},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.name) + " at " + std::string(row.at));
    const sys_seconds at = utc(row.at);

    EXPECT_EQ(row.zone.period_at(at).offset, seconds{row.offset});
    EXPECT_EQ(row.zone.to_local(at), local(row.at) + seconds{row.offset});
  }
}

TEST(Zone, FindsNoneOneOrTwoInstantsOfALocalTime) {
  struct Row {
    std::string_view name;
    Zone zone;
    std::string_view local_time;
    std::string_view first;
    std::string_view last;
  };
  const Row rows[] = {
      {"UTC", {}, "2024-03-10T02:30", "2024-03-10T02:30", "2024-03-10T02:30"},
      {"last before the gap", new_york(), "2024-03-10T01:59", "2024-03-10T06:59",
       "2024-03-10T06:59"},
      {"first in the gap", new_york(), "2024-03-10T02:00", "", ""},
      {"last in the gap", new_york(), "2024-03-10T02:59:59", "", ""},
      {"after the gap", new_york(), "2024-03-10T03:00", "2024-03-10T07:00", "2024-03-10T07:00"},
      {"last that comes once", new_york(), "2024-11-03T00:59:59", "2024-11-03T04:59:59",
       "2024-11-03T04:59:59"},
      {"first that comes twice", new_york(), "2024-11-03T01:00", "2024-11-03T05:00",
       "2024-11-03T06:00"},
      {"last that comes twice", new_york(), "2024-11-03T01:59:59", "2024-11-03T05:59:59",
       "2024-11-03T06:59:59"},
      {"once again", new_york(), "2024-11-03T02:00", "2024-11-03T07:00", "2024-11-03T07:00"},
      {"half an hour of gap", lord_howe(), "2024-10-06T02:29", "", ""},
      {"after half an hour of gap", lord_howe(), "2024-10-06T02:30", "2024-10-05T15:30",
       "2024-10-05T15:30"},
      {"half an hour twice", lord_howe(), "2024-04-07T01:45", "2024-04-06T14:45",
       "2024-04-06T15:15"},
      {"midnight that does not exist", sao_paulo(), "2018-11-04T00:00", "", ""},
      {"a day that does not exist", apia(), "2011-12-30T12:00", "", ""},
      {"the day after", apia(), "2011-12-31T00:00", "2011-12-30T10:00", "2011-12-30T10:00"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);

    const Zone::Instants found = row.zone.to_utc(local(row.local_time));

    ASSERT_EQ(found.first.has_value(), !row.first.empty());
    if (found.first) {
      EXPECT_EQ(show(*found.first), row.first);
      EXPECT_EQ(show(*found.last), row.last);
    }
  }
}

TEST(Zone, PeriodsFollowEachOtherWithoutHoles) {
  for (const Zone& zone : {new_york(), sydney(), dublin(), lord_howe(), apia(), sao_paulo(), Zone{},
                           by_rule("EST5EDT,0/0,J365/25"), by_rule("AAA-3BBB,J60,J300")}) {
    sys_seconds at = utc("2010-01-01T00:00");
    for (int i = 0; i < 100 && at < sys_seconds::max(); ++i) {
      const Zone::Period period = zone.period_at(at);
      ASSERT_LE(period.begin, at);
      ASSERT_GT(period.end, at);
      ASSERT_EQ(zone.period_at(period.end - seconds{1}).offset, period.offset);
      if (period.begin > sys_seconds::min()) {
        ASSERT_EQ(zone.period_at(period.begin).begin, period.begin);
      }
      at = period.end;
    }
  }
}

TEST(Zone, EveryInstantIsAmongThoseOfItsLocalTime) {
  const std::array zones{new_york(), sydney(), lord_howe(), apia(), sao_paulo(), nuuk()};
  EXPECT_TRUE(rc::check([&zones] {
    // Without the resizing, the first tests would keep to the beginning of the ranges.
    const Zone& zone =
        zones[*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, zones.size()))];
    const sys_seconds at{seconds{
        *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, 8'000'000'000))}};

    const Zone::Instants found = zone.to_utc(zone.to_local(at));

    RC_ASSERT(found.first.has_value());
    RC_ASSERT(found.first == at || found.last == at);
    RC_ASSERT(*found.first <= *found.last);
  }));
}

TEST(Zone, BeginsToFollowTheRuleWhereTheTableEnds) {
  const Zone zone = by_rule("EST5EDT,M3.2.0,M11.1.0", {{utc("2020-06-01T00:00"), hours{-4}}});

  const Zone::Period period = zone.period_at(utc("2020-07-01T00:00"));

  EXPECT_EQ(show(period.begin), "2020-06-01T00:00");
  EXPECT_EQ(show(period.end), "2020-11-01T06:00");
  EXPECT_EQ(period.offset, hours{-4});
  EXPECT_EQ(zone.period_at(utc("2020-05-31T23:59")).offset, hours{-5});
}

TEST(Zone, TakesSummerTimeThatNeverEnds) {
  const Zone zone = by_rule("EST5EDT,0/0,J365/25");

  for (const auto at : {"2023-12-31T23:59:59", "2024-01-01T04:59:59", "2024-01-01T05:00:00",
                        "2024-02-29T12:00:00", "2024-12-31T23:00:00", "2025-01-01T05:00:00"}) {
    EXPECT_EQ(zone.period_at(utc(at)).offset, hours{-4}) << at;
  }
}

TEST(Zone, CountsDaysOfTheYearWithAndWithoutTheLeapDay) {
  struct Row {
    std::string_view rule;
    std::string_view begins;
    std::string_view year;
  };
  const Row rows[] = {
      {"AAA0BBB,J60/0,J300", "2023-03-01T00:00", "2023"},
      {"AAA0BBB,J60/0,J300", "2024-03-01T00:00", "2024"},
      {"AAA0BBB,59/0,300", "2023-03-01T00:00", "2023"},
      {"AAA0BBB,59/0,300", "2024-02-29T00:00", "2024"},
      {"AAA0BBB,J59/0,J300", "2024-02-28T00:00", "2024"},
      {"AAA0BBB,M2.5.4/0,M10.1.0", "2024-02-29T00:00", "2024"},
      {"AAA0BBB,M3.2.0/-25,M10.1.0", "2024-03-08T23:00", "2024"},
  };
  for (const Row& row : rows) {
    const auto rule = parse_zone_rule(row.rule);
    ASSERT_TRUE(rule.has_value()) << row.rule;
    const int year = std::stoi(std::string(row.year));
    EXPECT_EQ(show(changes_of_year(*rule, std::chrono::year{year})[0].at), row.begins) << row.rule;
  }
}

TEST(ZoneRule, RefusesWhatIsNotARule) {
  for (const std::string_view text : {"",
                                      "EST",
                                      "E5",
                                      "5",
                                      "EST5EDT",
                                      "EST5EDT,",
                                      "EST5EDT,M3.2.0",
                                      "EST5EDT,M3.2.0,",
                                      "<+1>",
                                      "EST25",
                                      "EST5:60",
                                      "EST5EDT,M13.1.0,M11.1.0",
                                      "EST5EDT,M3.6.0,M11.1.0",
                                      "EST5EDT,M3.0.0,M11.1.0",
                                      "EST5EDT,M3.2.7,M11.1.0",
                                      "EST5EDT,J0,J1",
                                      "EST5EDT,J366,J1",
                                      "EST5EDT,366,1",
                                      "EST5EDT,M3.2.0/168,M11.1.0",
                                      "EST5EDT,M3.2.0,M11.1.0 ",
                                      "EST5EDT,M3.2.0,M11.1.0/2x",
                                      "<+10-10",
                                      "EST99999999999"}) {
    const auto rule = parse_zone_rule(text);
    ASSERT_FALSE(rule.has_value()) << text;
    EXPECT_EQ(rule.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Zone, RefusesATableThatIsNotInOrderAndOffsetsThatCannotBe) {
  const ZoneChange early{utc("2020-01-01T00:00"), hours{1}};
  const ZoneChange late{utc("2021-01-01T00:00"), hours{2}};

  EXPECT_TRUE(Zone::make(hours{0}, {early, late}, {}).has_value());
  EXPECT_FALSE(Zone::make(hours{0}, {late, early}, {}).has_value());
  EXPECT_FALSE(Zone::make(hours{0}, {early, early}, {}).has_value());
  EXPECT_FALSE(Zone::make(hours{27}, {}, {}).has_value());
  EXPECT_FALSE(Zone::make(hours{0}, {{early.at, hours{-27}}}, {}).has_value());
}

TEST(Zone, WithoutARuleKeepsItsLastOffset) {
  const auto zone = Zone::make(hours{1}, {{utc("2020-01-01T00:00"), hours{2}}}, {});

  ASSERT_TRUE(zone.has_value());
  EXPECT_EQ(zone->period_at(utc("2019-12-31T23:59:59")).offset, hours{1});
  EXPECT_EQ(zone->period_at(utc("2500-01-01T00:00")).offset, hours{2});
}

TEST(ZoneName, CannotLeaveItsDirectory) {
  for (const std::string_view name : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires",
                                      "Etc/GMT+5", "America/Port-au-Prince", "EST5EDT"}) {
    EXPECT_TRUE(is_zone_name(name)) << name;
  }
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {""sv, "/"sv, "/etc/passwd"sv, "../etc/passwd"sv, "Europe/../../etc"sv, "Europe//Berlin"sv,
        "Europe/"sv, "."sv, ".."sv, "Europe/Berlin\0"sv, "Europe Berlin"sv, "zone.tab"sv,
        "Europe\\Berlin"sv, "~"sv, "Zürich"sv}) {
    EXPECT_FALSE(is_zone_name(name)) << name;
  }
  EXPECT_TRUE(is_zone_name(std::string(zone_name_bytes_max, 'a')));
  EXPECT_FALSE(is_zone_name(std::string(zone_name_bytes_max + 1, 'a')));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
