#include "core/schedule/cron.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace hk::core {
namespace HK_TEST_FILE {

constexpr std::uint64_t all_minutes = (std::uint64_t{1} << 60U) - 1;
constexpr std::uint32_t all_hours = (1U << 24U) - 1;
constexpr std::uint32_t all_days = 0xFFFF'FFFE;
constexpr std::uint16_t all_months = 0x1FFE;
constexpr std::uint8_t all_weekdays = 0x7F;

template <class... Values>
constexpr std::uint64_t bits(Values... values) {
  return (std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(values)));
}

Cron parsed(std::string_view text) {
  const auto result = parse_cron(text);
  EXPECT_TRUE(result.has_value()) << text << ": " << result.error().message;
  return result ? result->cron : Cron{};
}

TEST(Cron, ReadsEveryFormOfAField) {
  struct Row {
    std::string_view minute;
    std::uint64_t bits;
  };
  const Row rows[] = {
      {"*", all_minutes},
      {"?", all_minutes},
      {"0", bits(0)},
      {"59", bits(59)},
      {"05", bits(5)},
      {"1,2,59", bits(1, 2, 59)},
      {"3-6", bits(3, 4, 5, 6)},
      {"7-7", bits(7)},
      {"*/15", bits(0, 15, 30, 45)},
      {"?/30", bits(0, 30)},
      {"*/1", all_minutes},
      {"*/60", bits(0)},
      {"*/99999999999999999999", bits(0)},
      {"10-20/5", bits(10, 15, 20)},
      {"50/4", bits(50, 54, 58)},
      {"1-3,10-12/2,40", bits(1, 2, 3, 10, 12, 40)},
      {"5,5,5", bits(5)},
      {"*,5", all_minutes},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.minute);

    const Cron cron = parsed(std::string(row.minute) + " * * * *");

    EXPECT_EQ(cron, (Cron{.minutes = row.bits,
                          .hours = all_hours,
                          .days = all_days,
                          .months = all_months,
                          .weekdays = all_weekdays}));
  }
}

TEST(Cron, PutsEachFieldInItsPlace) {
  EXPECT_EQ(parsed("1 2 3 4 5"), (Cron{.minutes = bits(1),
                                       .hours = static_cast<std::uint32_t>(bits(2)),
                                       .days = static_cast<std::uint32_t>(bits(3)),
                                       .months = static_cast<std::uint16_t>(bits(4)),
                                       .weekdays = static_cast<std::uint8_t>(bits(5)),
                                       .either_day_field = true}));
  EXPECT_EQ(parsed("59 23 31 12 6").months, bits(12));
}

TEST(Cron, ReadsNamesInAnyCase) {
  EXPECT_EQ(parsed("0 0 * JAN *").months, bits(1));
  EXPECT_EQ(parsed("0 0 * dec *").months, bits(12));
  EXPECT_EQ(parsed("0 0 * Mar-mAy,SEP *").months, bits(3, 4, 5, 9));
  EXPECT_EQ(parsed("0 0 * feb-aug/2 *").months, bits(2, 4, 6, 8));
  EXPECT_EQ(parsed("0 0 * * SUN").weekdays, bits(0));
  EXPECT_EQ(parsed("0 0 * * mon-FRI").weekdays, bits(1, 2, 3, 4, 5));
  EXPECT_EQ(parsed("0 0 * * Sat,sun").weekdays, bits(0, 6));
}

TEST(Cron, TakesSevenAsSunday) {
  EXPECT_EQ(parsed("0 0 * * 7").weekdays, bits(0));
  EXPECT_EQ(parsed("0 0 * * 0,7").weekdays, bits(0));
  EXPECT_EQ(parsed("0 0 * * 5-7").weekdays, bits(5, 6, 0));
  EXPECT_EQ(parsed("0 0 * * 0-7").weekdays, all_weekdays);
  EXPECT_EQ(parsed("0 0 * * 1-7/2").weekdays, bits(1, 3, 5, 0));
  EXPECT_EQ(parsed("0 0 * * 1/2").weekdays, bits(1, 3, 5));
  EXPECT_EQ(parsed("0 0 * * */2").weekdays, bits(0, 2, 4, 6));
  EXPECT_EQ(parsed("0 0 * * 7/2").weekdays, bits(0));
}

TEST(Cron, KnowsWhenBothDayFieldsAreRestricted) {
  struct Row {
    std::string_view text;
    bool either;
  };
  const Row rows[] = {
      {"0 0 * * *", false},     {"0 0 13 * *", false},     {"0 0 * * FRI", false},
      {"0 0 13 * FRI", true},   {"0 0 ? * FRI", false},    {"0 0 13 * ?", false},
      {"0 0 1-31 * FRI", true}, {"0 0 */2 * FRI", true},   {"0 0 */1 * FRI", false},
      {"0 0 13 * 0-6", true},   {"0 0 *,13 * FRI", false}, {"0 0 13 * */2", true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(parsed(row.text).either_day_field, row.either) << row.text;
  }
}

TEST(Cron, ReadsTheNamedSchedules) {
  struct Row {
    std::string_view name;
    std::string_view same;
  };
  const Row rows[] = {
      {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
      {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
      {"@annually", "0 0 1 1 *"}, {"@Daily", "0 0 * * *"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(parsed(row.name), parsed(row.same)) << row.name;
  }
}

TEST(Cron, ShowsTheTextWithItsZoneAndWithoutSurroundingSpaces) {
  struct Row {
    std::string_view given;
    std::string_view text;
    std::string_view zone;
  };
  const Row rows[] = {
      {"*/10 * * * * ", "*/10 * * * *", "UTC"},
      {" \t*/10\t*  * * *", "*/10\t*  * * *", "UTC"},
      {"CRON_TZ=America/New_York 0 4 * * *", "CRON_TZ=America/New_York 0 4 * * *",
       "America/New_York"},
      {"TZ=Asia/Tokyo   0 4 * * *", "TZ=Asia/Tokyo   0 4 * * *", "Asia/Tokyo"},
      {"CRON_TZ=Etc/GMT+5 @daily ", "CRON_TZ=Etc/GMT+5 @daily", "Etc/GMT+5"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.given);

    const auto result = parse_cron(row.given);

    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->text, row.text);
    EXPECT_EQ(result->zone, row.zone);
  }
}

TEST(Cron, SaysWhatIsWrongAndWhatWouldBeRight) {
  struct Row {
    std::string_view text;
    std::string_view wrong;
    std::string_view right;
  };
  const Row rows[] = {
      {"", "0 fields", "needs 5"},
      {"* * * *", "4 fields", "needs 5"},
      {"0 * * * * *", "6 fields", "seconds are not supported"},
      {"60 * * * *", "minute \"60\"", "0 to 59"},
      {"* 24 * * *", "hour \"24\"", "0 to 23"},
      {"* * 0 * *", "day of month \"0\"", "1 to 31"},
      {"* * 32 * *", "day of month \"32\"", "1 to 31"},
      {"* * * 0 *", "month \"0\"", "1 to 12 or JAN to DEC"},
      {"* * * 13 *", "month \"13\"", "1 to 12 or JAN to DEC"},
      {"* * * * 8", "day of week \"8\"", "0 to 7 or SUN to SAT"},
      {"* * * * FRIDAY", "day of week \"FRIDAY\"", "SUN to SAT"},
      {"* MON * * *", "hour \"MON\"", "0 to 23"},
      {"99999999999999999999 * * * *", "minute \"99999999999999999999\"", "0 to 59"},
      {"-1 * * * *", "minute \"\"", "0 to 59"},
      {"1- * * * *", "minute \"\"", "a range a-b"},
      {"1-2-3 * * * *", "minute \"2-3\"", "a range a-b"},
      {"1,,2 * * * *", "minute \"\"", "a list by commas"},
      {", * * * *", "minute \"\"", "a list by commas"},
      {"5-1 * * * *", "range \"5-1\" of the minute", "smaller value first"},
      {"* * * * FRI-SUN", "range \"FRI-SUN\" of the day of week", "two ranges"},
      {"*/0 * * * *", "step \"0\" of the minute", "1 or more"},
      {"*/ * * * *", "step \"\" of the minute", "1 or more"},
      {"*/x * * * *", "step \"x\" of the minute", "1 or more"},
      {"*/5/5 * * * *", "step \"5/5\" of the minute", "1 or more"},
      {"*-5 * * * *", "minute \"*\"", "a range a-b"},
      {"** * * * *", "minute \"**\"", "* for all"},
      {"0 0 L * *", "day of month \"L\"", "1 to 31"},
      {"0 0 * * 5#2", "day of week \"5#2\"", "0 to 7"},
      {"0 0 30 2 *", "\"30\" never comes in the month \"2\"", "February has 28 or 29"},
      {"0 0 31 APR,JUN *", "\"31\" never comes in the month \"APR,JUN\"", "have 30"},
      {"@every 5m", "\"@every 5m\" is not known", "@hourly"},
      {"@reboot", "\"@reboot\" is not known", "@daily"},
      {"@", "\"@\" is not known", "@daily"},
      {"CRON_TZ= 0 0 * * *", "time zone \"\"", "Europe/Berlin"},
      {"CRON_TZ=../../etc/passwd 0 0 * * *", "time zone \"../../etc/passwd\"", "IANA"},
      {"CRON_TZ=Europe/Berlin", "0 fields", "needs 5"},
      {"TZ=UTC", "0 fields", "needs 5"},
      {"cron_tz=UTC 0 0 * * *", "6 fields", "needs 5"},
      {"CRON_TZ=UTC TZ=UTC 0 0 * * *", "6 fields", "needs 5"},
      {"\x80 * * * *", "minute \"?\"", "0 to 59"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);

    const auto result = parse_cron(row.text);

    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(result.error().message.find(row.wrong), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find(row.right), std::string::npos) << result.error().message;
  }
}

TEST(Cron, RefusesOnlyDatesThatNeverCome) {
  for (const std::string_view text :
       {"0 0 29 2 *", "0 0 30 1,2 *", "0 0 31 1-12 *", "0 0 29-31 2 *", "0 0 30 2 MON"}) {
    EXPECT_TRUE(parse_cron(text).has_value()) << text;
  }
}

TEST(Cron, IsBoundedInLength) {
  const std::string list(cron_bytes_max - 10, '0');

  EXPECT_TRUE(parse_cron(list + " * * * *").has_value());
  EXPECT_FALSE(parse_cron(list + "000 * * * *").has_value());
  EXPECT_TRUE(parse_cron(std::string(10'000, ' ') + "* * * * *").has_value());
}

TEST(Cron, NeverStumblesOverAText) {
  const auto pieces = rc::gen::element<std::string>(
      "*", "?", "/", "-", ",", " ", "\t", "@", "0", "5", "7", "59", "60", "31", "JAN", "sun", "L",
      "CRON_TZ=", "TZ=", "UTC", "Europe/Berlin", "@daily", "\xff", std::string(1, '\0'), "99999");
  const auto check = [](const std::string& text) {
    const auto result = parse_cron(text);
    if (!result) {
      RC_ASSERT(result.error().kind == ErrorKind::invalid_argument);
      return;
    }
    RC_ASSERT(is_zone_name(result->zone));
    RC_ASSERT(result->cron.minutes != 0 && (result->cron.minutes & ~all_minutes) == 0);
    RC_ASSERT(result->cron.hours != 0 && (result->cron.hours & ~all_hours) == 0);
    RC_ASSERT(result->cron.days != 0 && (result->cron.days & ~all_days) == 0);
    RC_ASSERT(result->cron.months != 0 && (result->cron.months & ~unsigned{all_months}) == 0);
    RC_ASSERT(result->cron.weekdays != 0 && result->cron.weekdays <= all_weekdays);
    RC_ASSERT(next_after(result->cron, Moment{}, Zone{}).has_value());
    // What is shown means the same when it is read again.
    const auto again = parse_cron(result->text);
    RC_ASSERT(again.has_value() && *again == *result);
  };
  EXPECT_TRUE(rc::check([&check] { check(*rc::gen::arbitrary<std::string>()); }));
  EXPECT_TRUE(rc::check([&check, &pieces] {
    std::string text;
    for (const auto& piece : *rc::gen::container<std::vector<std::string>>(pieces)) {
      text += piece;
    }
    check(text);
  }));
  EXPECT_TRUE(rc::check([&check, &pieces] {  // five fields, so that more of them are right
    std::string text;
    for (int field = 0; field < 5; ++field) {
      for (const auto& piece :
           *rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(pieces))) {
        text += piece;
      }
      text += ' ';
    }
    check(text);
  }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
