#include "core/retry/expression.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace hk::core {
namespace HK_TEST_FILE {

TEST(Expression, GivesWhatArithmeticGives) {
  struct Row {
    std::string_view text;
    std::uint32_t retried;
    std::int64_t milliseconds;
  };
  const Row rows[] = {
      {"1000", 0, 1000},
      {"1000 * (1 + retried)", 0, 1000},
      {"1000 * (1 + retried)", 3, 4000},
      {"pow(2, retried) * 100", 5, 3200},
      {"2 + 3 * 4", 0, 14},
      {"(2 + 3) * 4", 0, 20},
      {"10 - 2 - 3", 0, 5},
      {"100 / 10 / 2", 0, 5},
      {"17 % 5", 0, 2},
      {"-5 + 8", 0, 3},
      {"- - 5", 0, 5},
      {"min(5000, 700 * retried)", 2, 1400},
      {"min(5000, 700 * retried)", 20, 5000},
      {"max(3, retried)", 9, 9},
      {"max(1, 2, 3)", 0, 3},
      {"sqrt(16)", 0, 4},
      {"abs(0 - 7)", 0, 7},
      {"floor(2.9)", 0, 2},
      {"ceil(2.1)", 0, 3},
      {"round(2.5)", 0, 3},
      {"exp(0)", 0, 1},
      {"  1+1  ", 0, 2},
      {"0.5 * 10", 0, 5},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto parsed = parse_expression(row.text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(parsed->evaluate(row.retried).count(), row.milliseconds);
  }
}

TEST(Expression, StaysBetweenNothingAndADay) {
  struct Row {
    std::string_view text;
    std::int64_t milliseconds;
  };
  const Row rows[] = {
      {"0 - 1000", 0},
      {"1000000000000", retry_delay_max.count()},
      {"pow(10, 400)", retry_delay_max.count()},
      {"1 / 0", retry_delay_max.count()},
      {"0 / 0", 0},
      {"sqrt(0 - 1)", 0},
      {"exp(100000)", retry_delay_max.count()},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto parsed = parse_expression(row.text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(parsed->evaluate(1).count(), row.milliseconds);
  }
}

TEST(Expression, RefusesWhatItCannotRead) {
  const std::string_view texts[] = {
      "",        " ",           "retried +",       "* 3",     "(1",    "1)",     "1 2",
      "retries", "pow(1)",      "pow(1,2,3)",      "sqrt()",  "min()", "foo(1)", "1..2",
      "1 & 2",   "system('x')", "retried retried", "max(1,)", "()",
  };
  for (const std::string_view text : texts) {
    SCOPED_TRACE(text);
    const auto parsed = parse_expression(text);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
    EXPECT_FALSE(parsed.error().message.empty());
  }
}

TEST(Expression, IsBoundedInLengthAndDepth) {
  EXPECT_FALSE(parse_expression(std::string(expression_bytes_max + 1, '1')).has_value());
  const std::string deep =
      std::string(expression_depth_max * 2, '(') + "1" + std::string(expression_depth_max * 2, ')');
  EXPECT_FALSE(parse_expression(deep).has_value());
  EXPECT_FALSE(parse_expression(std::string(200, '-') + "1").has_value());
}

TEST(Expression, NeverCrashesOnAnyText) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto parsed = parse_expression(text);
    if (parsed) {
      const Millis wait = parsed->evaluate(3);
      RC_ASSERT(wait >= Millis{0} && wait <= retry_delay_max);
    }
  }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
