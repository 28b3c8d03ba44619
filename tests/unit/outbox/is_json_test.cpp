#include "outbox/is_json.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::outbox {
namespace HK_TEST_FILE {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(IsJson, TellsJsonFromAnythingElse) {
  using namespace std::string_literals;
  const std::string good[] = {"{}",
                              " [1, -2.5e3, \"\\u00e9\"] \n",
                              "null",
                              "\"x\"",
                              "1e400",
                              "{\"a\":{\"a\":1},\"a\":2}",
                              "\"\xc3\xa4\"",
                              nested(256),
                              std::string(40, '9')};
  const std::string bad[] = {"",        " ",        "{",         "{}{}",           "{} x",
                             "{'a':1}", "[1,]",     "\"\xff\"",  "\"\x01\"",       "nul",
                             "{}\0"s,   "[1] // x", nested(257), nested(1'000'000)};
  for (const std::string& text : good) {
    EXPECT_TRUE(is_json(text, 256)) << text;
  }
  for (const std::string& text : bad) {
    EXPECT_FALSE(is_json(text, 256)) << text.substr(0, 100);
  }
}

TEST(IsJson, GoesAsDeepAsItIsAllowedTo) {
  EXPECT_TRUE(is_json(nested(3), 3));
  EXPECT_FALSE(is_json(nested(4), 3));
  EXPECT_TRUE(is_json("1", 0));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
