#include "core/retry/retry_policy.h"

#include <gtest/gtest.h>

namespace hk::core {
namespace HK_TEST_FILE {

TEST(RetryDelay, FollowsItsPolicy) {
  struct Row {
    std::string_view name;
    RetryDelay delay;
    std::uint32_t retry;
    std::optional<Millis> asked_for;
    std::int64_t milliseconds;
  };
  const ExponentialDelay doubling{.first = Millis{100}, .factor = 2, .cap = Millis{1000}};
  const TableDelay table{{Millis{10}, Millis{20}}};
  const Row rows[] = {
      {"the first", doubling, 1, {}, 100},
      {"the third", doubling, 3, {}, 400},
      {"capped", doubling, 9, {}, 1000},
      {"capped however far", doubling, 4000, {}, 1000},
      {"rounded up",
       ExponentialDelay{.first = Millis{1}, .factor = 1.5, .cap = Millis{9}},
       2,
       {},
       2},
      {"first entry", table, 1, {}, 10},
      {"last entry", table, 2, {}, 20},
      {"the last repeats", table, 7, {}, 20},
      {"an empty table", TableDelay{}, 1, {}, 0},
      {"an expression of retries made", ExpressionDelay{"1000 * retried"}, 1, {}, 0},
      {"the same later", ExpressionDelay{"1000 * retried"}, 4, {}, 3000},
      {"the receiver's wish", table, 1, Millis{5000}, 5000},
      {"at once if it wishes", table, 1, Millis{0}, 0},
      {"a wish of a day", table, 1, Millis{86'400'000}, 86'400'000},
      {"a wish beyond a day is not heard", table, 1, Millis{86'400'001}, 10},
      {"nor one in the past", table, 1, Millis{-1}, 10},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    SeededRng rng(1);
    const RetryPolicy policy{.retries_max = 9, .delay = row.delay};
    EXPECT_EQ(retry_delay(policy, row.retry, row.asked_for, rng).count(), row.milliseconds);
  }
}

TEST(RetryDelay, JitterOnlyAddsAndNeverMoreThanItsShare) {
  SeededRng rng(3);
  const RetryPolicy policy{
      .retries_max = 3,
      .delay = ExponentialDelay{
          .first = Millis{1000}, .factor = 1, .cap = Millis{1000}, .jitter_percent = 20}};
  bool some_jitter = false;
  for (int i = 0; i < 200; ++i) {
    const Millis wait = retry_delay(policy, 1, std::nullopt, rng);
    ASSERT_GE(wait.count(), 1000);
    ASSERT_LE(wait.count(), 1200);
    some_jitter = some_jitter || wait.count() > 1000;
  }
  EXPECT_TRUE(some_jitter);
}

TEST(RetryDelay, OfADefaultPolicyIsQStashs) {
  SeededRng rng(1);
  const RetryPolicy policy;
  // e^(2.5·n) seconds: 12.18 s, 148.4 s, 1808 s; never shorter.
  EXPECT_GE(retry_delay(policy, 1, std::nullopt, rng).count(), 12'182);
  EXPECT_LE(retry_delay(policy, 1, std::nullopt, rng).count(), 12'190);
  EXPECT_GE(retry_delay(policy, 2, std::nullopt, rng).count(), 148'413);
  EXPECT_LE(retry_delay(policy, 2, std::nullopt, rng).count(), 148'500);
  EXPECT_EQ(retry_delay(policy, 9, std::nullopt, rng).count(), 86'400'000);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
