#include "base/date.h"

#include <gtest/gtest.h>

namespace hk {
namespace HK_TEST_FILE {

constexpr Moment new_year = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                            std::chrono::hours{3} + std::chrono::minutes{4} +
                            std::chrono::seconds{5};

TEST(Rfc3339, WritesMilliseconds) {
  EXPECT_EQ(rfc3339(moment_from_ms(1'700'000'000'007)), "2023-11-14T22:13:20.007Z");
  EXPECT_EQ(rfc3339(Moment{}), "1970-01-01T00:00:00.000Z");
}

TEST(Rfc3339, ReadsNanosecondsAndOffsets) {
  const auto written = [](std::string_view text) {
    std::string out;
    const auto moment = parse_rfc3339(text);
    if (moment) {
      append_rfc3339(out, *moment);
    }
    return out;
  };
  EXPECT_EQ(written("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05.000000000Z");
  EXPECT_EQ(written("2026-01-02t03:04:05.6z"), "2026-01-02T03:04:05.600000000Z");
  EXPECT_EQ(written("2026-01-02T03:04:05.123456789Z"), "2026-01-02T03:04:05.123456789Z");
  EXPECT_EQ(written("2026-01-02T03:04:05.5+02:30"), "2026-01-02T00:34:05.500000000Z");
  EXPECT_EQ(written("2026-01-02T03:04:05-01:00"), "2026-01-02T04:04:05.000000000Z");
  EXPECT_EQ(written("1969-12-31T23:59:59.999999999Z"), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(written("1678-01-01T00:00:00+23:59"), "1677-12-31T00:01:00.000000000Z");
  EXPECT_EQ(written("2261-12-31T23:59:59.999999999-23:59"), "2262-01-01T23:58:59.999999999Z");
  for (const std::string_view text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.1234567890Z", "2026-02-30T03:04:05Z", "2026-01-02T24:00:00Z",
        "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+0100", "2026-01-02T03:04:05Zx",
        "1677-12-31T00:00:00Z", "2262-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}) {
    EXPECT_EQ(written(text), "") << text;
  }
}

TEST(BasicDate, ReadsWhatItWritesAndNothingElse) {
  EXPECT_EQ(basic_date(new_year), "20260102T030405Z");
  EXPECT_EQ(basic_date(moment_from_ms(1'440'938'160'999)), "20150830T123600Z");
  EXPECT_EQ(parse_basic_date("20260102T030405Z"), new_year);
  EXPECT_EQ(parse_basic_date("19700101T000000Z"), Moment{});
  for (const std::string_view text :
       {"", "20260102T030405", "20260102 030405Z", "20261302T030405Z", "20260230T030405Z",
        "20260102T240000Z", "20260102T006000Z", "2026010aT030405Z", "20260102T030405Z "}) {
    EXPECT_FALSE(parse_basic_date(text)) << text;
  }
}

TEST(HttpDate, ReadsWhatItWritesAndNothingElse) {
  std::string written;
  append_http_date(written, new_year);
  EXPECT_EQ(written, "Fri, 02 Jan 2026 03:04:05 GMT");
  EXPECT_EQ(parse_http_date(written), new_year);
  EXPECT_EQ(parse_http_date("Mon, 02 Jan 2026 03:04:05 GMT"), new_year);
  for (const std::string_view text :
       {"", "Fri, 02 Jab 2026 03:04:05 GMT", "Fri, 2 Jan 2026 03:04:05 GMT",
        "Fri, 02 Jan 2026 03:04:05 CET", "Fri, 32 Jan 2026 03:04:05 GMT",
        "Fry, 02 Jan 2026 03:04:05 GMT", "Fri, 02 anF 2026 03:04:05 GMT",
        "Fri, 02 Jan 2026 24:04:05 GMT", "Fri, 02 Jan 2026 03:04:05 GMT "}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk
