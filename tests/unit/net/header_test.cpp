#include "net/header.h"

#include <gtest/gtest.h>

namespace hk::net {
namespace HK_TEST_FILE {

TEST(Header, AnUnsafeHeaderIsRecognised) {
  EXPECT_TRUE(safe_header("X-A", "b c"));
  EXPECT_TRUE(safe_header("X-A", ""));
  EXPECT_TRUE(safe_header("X-A", "caf\xc3\xa9\tx"));
  for (const std::string_view value :
       {"a\r\nb", "a\n", "\r", "a\x7f", " a", "a ", "\ta", "a\x01"}) {
    EXPECT_FALSE(safe_header("X-A", value)) << value;
  }
  EXPECT_FALSE(safe_header("X-A", std::string_view("a\0b", 3)));
  for (const std::string_view name : {"", "a b", "a:", "a\r\nb", "a\n", "\xc3\xa9", "(a)"}) {
    EXPECT_FALSE(safe_header(name, "v")) << name;
  }
}

TEST(Header, IsFoundInAnyCaseAndTheFirstOneCounts) {
  const std::vector<Field> fields = {{"X-A", "1"}, {"x-a", "2"}, {"X-B", ""}};

  EXPECT_EQ(find_field(fields, "x-A"), "1");
  EXPECT_EQ(find_field(fields, "X-B"), "");
  EXPECT_EQ(find_field(fields, "X"), std::nullopt);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::net
