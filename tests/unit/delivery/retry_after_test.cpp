#include "delivery/retry_after.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::delivery {
namespace HK_TEST_FILE {

// Sun, 27 Jun 2027 12:00:00 GMT
constexpr Moment now =
    std::chrono::sys_days{std::chrono::year{2027} / 6 / 27} + std::chrono::hours{12};

TEST(RetryAfter, ReadsNumbersDatesAndDurations) {
  struct Row {
    std::string value;
    std::optional<std::int64_t> millis;
  };
  const Row rows[] = {
      {"0", 0},
      {"10", 10'000},
      {" 10\t", 10'000},
      {"0010", 10'000},
      {"1.5", 1'500},
      {"0.0001", 1},
      {"86400", 86'400'000},
      {"86400.1", {}},
      {"86401", {}},
      {"1000000000", {}},
      {"1718000000", {}},  // a Unix timestamp is disarmed
      {"99999999999999999999999999999999999999", {}},
      {std::string(400, '9'), {}},
      {std::string(2'000'000, 'x'), {}},
      {"-1", {}},
      {"-10s", {}},
      {"+10", {}},
      {"", {}},
      {"   ", {}},
      {".", {}},
      {"1.2.3", {}},
      {"1e3", {}},
      {"0x10", {}},
      {"10 s", {}},
      {"ten", {}},
      {"nan", {}},
      {"inf", {}},
      {"10,20", {}},
      {"6m5s", 365'000},
      {"1s500ms", 1'500},
      {"1h", 3'600'000},
      {"24h", 86'400'000},
      {"24h1ms", {}},
      {"25h", {}},
      {"1.5s", 1'500},
      {"0.5m", 30'000},
      {".5s", 500},
      {"20ms", 20},
      {"1000us", 1},
      {"1000\xc2\xb5s", 1},
      {"1000\xce\xbcs", 1},
      {"5000000ns", 5},
      {"1ns", 1},
      {"1ms1ms", 2},
      {"0s", 0},
      {"1d", {}},
      {"1S", {}},
      {"s", {}},
      {"1m2", {}},
      {"1m 2s", {}},
      {"Sun, 27 Jun 2027 12:16:24 GMT", 984'000},
      {"Sun, 27 Jun 2027 12:00:00 GMT", 0},
      {"Sun, 27 Jun 2027 11:59:59 GMT", 0},
      {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
      {"Mon, 28 Jun 2027 12:00:00 GMT", 86'400'000},
      {"Mon, 28 Jun 2027 12:00:01 GMT", {}},
      {"Fri, 31 Dec 9999 23:59:59 GMT", {}},
      {"Sun, 31 Feb 2027 12:16:24 GMT", {}},
      {"Sun, 27 Jun 2027 24:16:24 GMT", {}},
      {"Sun, 27 Jun 2027 12:60:24 GMT", {}},
      {"Sun, 27 Jun 2027 12:16:24 UTC", {}},
      {"Sun, 27 Jun 2027 12:16:24 +0000", {}},
      {"Sun 27 Jun 2027 12:16:24 GMT", {}},
      {"Xyz, 27 Jun 2027 12:16:24 GMT", {}},
      {"unM, 27 Jun 2027 12:16:24 GMT", {}},
      {"Sun, 27 anF 2027 12:16:24 GMT", {}},
      {"Sunday, 27-Jun-27 12:16:24 GMT", {}},
      {"Sun, -7 Jun 2027 12:16:24 GMT", {}},
      {"Sun, 27 Jun 2027 12:16:24 GMT ", 984'000},
      {"Sun, 27 Jun 2027 12:16:24 GMTx", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.value.substr(0, 60));

    const auto wish = parse_retry_after(row.value, now);

    ASSERT_EQ(wish.has_value(), row.millis.has_value());
    if (wish) {
      EXPECT_EQ(wish->count(), *row.millis);
    }
  }
}

TEST(RetryAfter, WhatIsAskedForIsRetryAfterInWholeSecondsHoweverFarAway) {
  struct Row {
    const char* value;
    std::optional<std::int64_t> seconds;
  };
  const Row rows[] = {
      {"0", 0},
      {"10", 10},
      {"0.001", 1},
      {"1.5", 2},
      {"86401", 86'401},
      {"1718000000", 365 * 86'400},
      {"99999999999999999999999999999999999999", 365 * 86'400},
      {"Sun, 27 Jun 2027 12:16:24 GMT", 984},
      {"Tue, 29 Jun 2027 12:00:00 GMT", 2 * 86'400},
      {"Fri, 31 Dec 9999 23:59:59 GMT", 365 * 86'400},
      {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
      {"-1", {}},
      {"soon", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.value);
    RetryAfter fields;
    EXPECT_TRUE(fields.field("X-RateLimit-Reset", "3", now));
    EXPECT_EQ(fields.asked(), std::nullopt);
    EXPECT_TRUE(fields.field("Retry-After", row.value, now));
    EXPECT_TRUE(fields.field("Retry-After", "7", now));

    ASSERT_EQ(fields.asked().has_value(), row.seconds.has_value());
    if (row.seconds) {
      EXPECT_EQ(*fields.asked(), std::chrono::seconds(*row.seconds));
    }
  }
}

TEST(RetryAfter, TheFirstFieldPresentInTheWrittenOrderDecidesAlone) {
  RetryAfter fields;
  EXPECT_TRUE(fields.field("x-ratelimit-reset-tokens", "4", now));
  EXPECT_EQ(fields.wish(), Millis{4'000});
  EXPECT_TRUE(fields.field("X-RateLimit-Reset", "2", now));
  EXPECT_TRUE(fields.field("X-RateLimit-Reset-Requests", "3", now));
  EXPECT_EQ(fields.wish(), Millis{2'000});
  EXPECT_TRUE(fields.field("RETRY-AFTER", "garbage", now));
  EXPECT_EQ(fields.wish(), std::nullopt);
  EXPECT_TRUE(fields.field("Retry-After", "1", now));
  EXPECT_EQ(fields.wish(), std::nullopt);
  EXPECT_FALSE(fields.field("Retry-Afterwards", "1", now));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
