#include "api/limits/factor.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string_view>
#include <vector>

namespace hk::api::limits {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Measured every second for long enough that it arrives.
Factor settled(std::uint64_t load, const Answered& a_second) {
  Factor factor;
  Answered so_far;
  for (int i = 0; i < 120; ++i) {
    factor.measure(seconds{i}, load, so_far);
    so_far.all += a_second.all;
    so_far.failed += a_second.failed;
  }
  return factor;
}

TEST(Factor, FollowsLoadAndErrors) {
  struct Row {
    std::string_view name;
    std::uint64_t load;
    Answered a_second;
    Millionths expected;
  };
  const Row rows[] = {
      {"idle", 0, {}, 1'000'000},
      {"just not busy", 800'000, {100, 0}, 1'000'000},
      {"half way", 900'000, {100, 0}, 550'000},
      {"full", 1'000'000, {100, 0}, 100'000},
      {"beyond full", 7'000'000, {100, 0}, 100'000},
      {"few errors", 0, {100, 5}, 1'000'000},
      {"half way to the worst", 0, {1000, 275}, 550'000},
      {"every other one", 0, {100, 50}, 100'000},
      {"all", 0, {100, 100}, 100'000},
      {"the worse of both", 900'000, {100, 50}, 100'000},
      {"too few to say", 0, {1, 1}, 1'000'000},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(settled(row.load, row.a_second).value(), row.expected);
  }
}

TEST(Factor, ForgetsErrorsAfterAMinute) {
  Factor factor;
  factor.measure(seconds{0}, 0, {0, 0});
  factor.measure(seconds{1}, 0, {1000, 1000});
  EXPECT_EQ(factor.error_rate(), 1'000'000U);
  factor.measure(seconds{60}, 0, {1200, 1000});
  EXPECT_EQ(factor.error_rate(), 833'333U);

  factor.measure(seconds{61}, 0, {1200, 1000});

  EXPECT_EQ(factor.error_rate(), 0U);
}

TEST(Factor, StaysWithinItsBoundsAndSlopes) {
  EXPECT_TRUE(rc::check([] {
    Factor factor;
    Time now{0};
    Answered so_far;
    factor.measure(now, 0, so_far);
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 5000), rc::gen::inRange(0, 2'000'000),
                       rc::gen::inRange(0, 1000), rc::gen::inRange(0, 100)));
    for (const auto& [ms, load, all, failed_percent] : steps) {
      now += milliseconds{ms};
      so_far.all += static_cast<std::uint64_t>(all);
      so_far.failed += static_cast<std::uint64_t>(all * failed_percent / 100);
      const std::int64_t before = factor.value();

      factor.measure(now, static_cast<std::uint64_t>(load), so_far);

      const std::int64_t after = factor.value();
      RC_ASSERT(after >= 100'000);
      RC_ASSERT(after <= 1'000'000);
      RC_ASSERT(after - before <= ms * 50);
      RC_ASSERT(before - after <= ms * 200);
    }
  }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::limits
