#include "base/json_string.h"

#include <gtest/gtest.h>

namespace hk {
namespace HK_TEST_FILE {

TEST(JsonString, EscapesWhatMustBeEscapedAndReplacesWhatIsNotUtf8) {
  struct Row {
    std::string_view text;
    std::string_view json;
  };
  const Row rows[] = {
      {"plain", R"("plain")"},
      {"q\"b\\", R"("q\"b\\")"},
      {"\n\r\t\x01", R"("\n\r\t\u0001")"},
      {"\x7f", R"("\u007f")"},
      {"\xc2\x9b[2J", R"("\u009b[2J")"},  // a C1 control
      {"zażółć €😀", "\"zażółć €😀\""},
      {"\xff", R"("\ufffd")"},
      {"a\xc3", R"("a\ufffd")"},
      {"\xe2\x82z", R"("\ufffdz")"},                // the beginning of a character is one piece
      {"\xc0\xaf", R"("\ufffd\ufffd")"},            // overlong
      {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},  // a surrogate
      {"\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},  // above U+10FFFF
  };
  for (const Row& row : rows) {
    std::string out;
    append_json_string(out, row.text);
    EXPECT_EQ(out, row.json);
    EXPECT_EQ(valid_utf8(row.text), row.json.find("ufffd") == std::string_view::npos);
  }
}

TEST(JsonString, EndsWithAnEllipsisWithinItsBound) {
  struct Row {
    std::string_view text;
    std::string_view json;
  };
  const Row rows[] = {
      {"12345678", R"("12345678")"},
      {"123456789", "\"12345\xe2\x80\xa6\""},
      {"1234\n\n\n\n", R"("1234\n\n\n\n")"},
      {"1234\n\n\n\n\n", "\"1234\\n\xe2\x80\xa6\""},
      {"12345\xe2\x82\xac", "\"12345\xe2\x82\xac\""},
      {"123\xe2\x82\xac\xe2\x82\xac", "\"123\xe2\x80\xa6\""},
  };
  for (const Row& row : rows) {
    std::string out;
    append_json_string(out, row.text, 8);
    EXPECT_EQ(out, row.json);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk
