#include "base/ascii.h"

#include <gtest/gtest.h>

namespace hk {
namespace HK_TEST_FILE {

TEST(Trim, TakesAwayWhatIsOutsideAndNothingInside) {
  EXPECT_EQ(trim("  a b\t"), "a b");
  EXPECT_EQ(trim("\r\na"), "\r\na");
  EXPECT_EQ(trim("\r\n a \n", white_space), "a");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(IgnoringCase, IsAboutAsciiLettersOnly) {
  EXPECT_TRUE(equals_ignoring_case("Content-TYPE", "content-type"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_FALSE(equals_ignoring_case("\xc4", "\xe4"));

  EXPECT_TRUE(starts_with_ignoring_case("HTTPS://x", "https://"));
  EXPECT_TRUE(starts_with_ignoring_case("x", ""));
  EXPECT_FALSE(starts_with_ignoring_case("http", "http:"));

  EXPECT_EQ(lower_case("aZ-[\xc4"), "az-[\xc4");
}

}  // namespace HK_TEST_FILE
}  // namespace hk
