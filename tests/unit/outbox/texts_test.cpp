#include "outbox/texts.h"

#include <gtest/gtest.h>

namespace hk::outbox {
namespace HK_TEST_FILE {

TEST(CleanText, IsUtf8WithoutNulWhateverCameIn) {
  EXPECT_EQ(clean_text("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(clean_text(std::string("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(clean_text("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(clean_text("\xc3(\xf0\x9f\x98\x80"), "\xef\xbf\xbd(\xf0\x9f\x98\x80");
  EXPECT_EQ(plain_text("a\xc3\xa9\n"), "a???");
}

TEST(ResponseJson, IsTheAnswerItselfOrItsText) {
  struct Case {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  const Case cases[] = {
      {"nothing", "", ""},
      {"object", R"({"a": [1, null]})", R"({"a": [1, null]})"},
      {"words", "created", R"("created")"},
      {"two values", "1 2", R"("1 2")"},
      {"nul in json", R"(["\u0000"])", R"("[\"\\u0000\"]")"},
      {"broken utf-8 in json", "[\"\xff\"]", "\"[\\\"\xef\xbf\xbd\\\"]\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(response_json(c.bytes), c.expected);
  }
}

TEST(ParseHeaders, TakesAnObjectOfStrings) {
  EXPECT_TRUE(parse_headers("")->empty());
  EXPECT_TRUE(parse_headers("null")->empty());
  EXPECT_EQ(*parse_headers(R"({"A": "1", "B": ["2", "3"]})"),
            (std::vector<Header>{{"A", "1"}, {"B", "2"}, {"B", "3"}}));
  for (const char* bad : {"[]", "1", "{", R"({"a": 1})", R"({"a": [1]})", R"({"a": {}})"}) {
    EXPECT_FALSE(parse_headers(bad).has_value()) << bad;
  }
}

TEST(SaysJson, GoesByTheContentType) {
  EXPECT_FALSE(says_json({{"X", "application/json"}}).has_value());
  EXPECT_EQ(says_json({{"content-TYPE", "Application/JSON; charset=utf-8"}}), true);
  EXPECT_EQ(says_json({{"Content-Type", "application/problem+json"}}), true);
  EXPECT_EQ(says_json({{"Content-Type", "text/plain"}}), false);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
