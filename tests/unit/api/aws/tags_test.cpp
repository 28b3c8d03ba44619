#include "api/aws/tags.h"

#include <gtest/gtest.h>

namespace hk::api::aws {
namespace HK_TEST_FILE {

TEST(Characters, AreCountedInUtf8AndBytesInWhatIsNot) {
  EXPECT_EQ(characters(""), 0U);
  EXPECT_EQ(characters("abc"), 3U);
  EXPECT_EQ(characters("\u00fc\u20ac\U0001f600"), 3U);
  EXPECT_EQ(characters(std::string(1000, '\x80')), 1000U);
}

TEST(Tags, AreAtMostFiftyOfBoundedText) {
  TextMap fifty;
  for (int i = 0; i < 50; ++i) {
    fifty[std::to_string(i)] = "";
  }
  EXPECT_TRUE(check_tags({}));
  EXPECT_TRUE(check_tags(fifty));
  fifty["one more"] = "";
  EXPECT_FALSE(check_tags(fifty));

  EXPECT_TRUE(check_tags({{std::string(128, 'k'), std::string(256, 'v')}}));
  for (const TextMap& bad :
       {TextMap{{"", "v"}}, TextMap{{std::string(129, 'k'), ""}},
        TextMap{{"k", std::string(257, 'v')}}, TextMap{{"k", "\x80"}}, TextMap{{"\x01", ""}}}) {
    EXPECT_FALSE(check_tags(bad)) << bad.begin()->first;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
