#include "observe/line_limit.h"

#include <gtest/gtest.h>

#include <tuple>

namespace hk::observe {
namespace HK_TEST_FILE {

TEST(LineLimit, LetsSoManyThroughInASecondAndTellsHowManyItLeftOut) {
  LineLimit limit(2);
  const LineLimit::Time begin{std::chrono::hours(1)};
  const std::tuple<int, std::optional<std::uint64_t>> rows[] = {
      {0, 0},      {10, 0},     {20, {}},     {999, {}},  // of the first second
      {1'000, 2},  {1'001, 0},  {1'999, {}},              // the next begins with its first line
      {60'000, 1}, {60'001, 0}, {60'002, {}},
  };
  for (const auto& [at, left_out] : rows) {
    EXPECT_EQ(limit.take(begin + std::chrono::milliseconds(at)), left_out) << at;
  }
}

TEST(LineLimit, LeavesNothingOutIfLinesOfTheLevelDebugAreWritten) {
  LineLimit limit(1);
  const LineLimit::Time now{std::chrono::hours(1)};
  EXPECT_EQ(limit.take(now), 0U);
  EXPECT_EQ(limit.take(now), std::nullopt);
  set_log_level(Level::debug);

  EXPECT_EQ(limit.take(now), 1U);
  EXPECT_EQ(limit.take(now), 0U);

  set_log_level(Level::info);
  EXPECT_EQ(limit.take(now), std::nullopt);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::observe
