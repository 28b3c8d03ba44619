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
