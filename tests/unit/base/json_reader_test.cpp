#include "base/json_reader.h"

#include <gtest/gtest.h>

#include "base/exact_json.h"

namespace hk {
namespace HK_TEST_FILE {

/// What is read, written down again; "!" and the problem if it is no JSON.
void retell(JsonReader& json, std::string& out) {
  using Kind = JsonReader::Kind;
  switch (json.kind()) {
    case Kind::none: break;
    case Kind::null:
      json.null();
      out += "null";
      break;
    case Kind::boolean: out += json.boolean() ? "true" : "false"; break;
    case Kind::number: out += json.number(); break;
    case Kind::string: out += '<' + std::string(json.string()) + '>'; break;
    case Kind::array:
      json.begin_array();
      out += '[';
      while (json.next_item()) {
        retell(json, out);
        out += ';';
      }
      out += ']';
      break;
    case Kind::object: {
      json.begin_object();
      out += '{';
      std::string_view name;
      while (json.next_member(name)) {
        out += std::string(name) + '=';
        retell(json, out);
        out += ';';
      }
      out += '}';
      break;
    }
  }
}

std::string told(std::string_view text) {
  JsonReader json(text);
  std::string out;
  retell(json, out);
  json.end();
  return json.failed() ? "! " + json.error() : out;
}

TEST(JsonReader, ReadsWhatIsJson) {
  struct Row {
    std::string_view text;
    std::string_view told;
  };
  const Row rows[] = {
      {"null", "null"},
      {" [ true , false , null ] ", "[true;false;null;]"},
      {"[]", "[]"},
      {"{}", "{}"},
      {"[[],{},[{}]]", "[[];{};[{};];]"},
      {R"({"a":1,"b":{"c":[-0.5e+3,0,10]}})", "{a=1;b={c=[-0.5e+3;0;10;];};}"},
      {R"("plain")", "<plain>"},
      {R"("\"\\\/\b\f\n\r\t")", "<\"\\/\b\f\n\r\t>"},
      {R"("\u0041\u00e9\u20ac\ud83d\ude00")", "<Aé€😀>"},
      {"\"é€😀\"", "<é€😀>"},
      {R"({"na\u006de":"va\u006cue"})", "{name=<value>;}"},
      {"340282366920938463463374607431768211455", "340282366920938463463374607431768211455"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(told(row.text), row.told);
  }
}

TEST(JsonReader, SaysWhereItIsNone) {
  struct Row {
    std::string_view text;
    std::string_view problem;
  };
  const Row rows[] = {
      {"", "a value is missing at byte 0"},
      {"nul", "a value is expected at byte 0"},
      {"x", "a value is expected at byte 0"},
      {"[1", "a comma or a closing bracket is missing at byte 2"},
      {"[1,", "a value is missing at byte 3"},
      {"[1,]", "a value is expected at byte 3"},
      {"[,1]", "a value is expected at byte 1"},
      {"[1 2]", "a comma or a closing bracket is missing at byte 3"},
      {"[1}", "a comma or a closing bracket is missing at byte 2"},
      {"{\"a\"}", "a colon is missing at byte 4"},
      {"{\"a\":1,}", "a string is expected at byte 7"},
      {"{a:1}", "a string is expected at byte 1"},
      {"01", "a number is not complete at byte 2"},
      {"-", "a number is not complete at byte 1"},
      {"1.", "a number is not complete at byte 2"},
      {"1e", "a number is not complete at byte 2"},
      {"\"a", "a string is not closed at byte 2"},
      {"\"\\", "an escape is not known at byte 2"},
      {"\"a\nb\"", "a control character in a string is not escaped at byte 2"},
      {"\"\\n\n\"", "a control character in a string is not escaped at byte 3"},
      {"\"\\x\"", "an escape is not known at byte 3"},
      {"\"\\u12g4\"", "an escape is not known at byte 5"},
      {"\"\\ud83d\"", "half of a surrogate pair stands alone at byte 7"},
      {"\"\\ude00\"", "half of a surrogate pair stands alone at byte 7"},
      {"\"\\ud83d\\u0041\"", "half of a surrogate pair stands alone at byte 13"},
      {"\"\xff\"", "a string is not UTF-8 at byte 3"},
      {"1 2", "something follows the value at byte 2"},
      {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "it is nested too deeply at byte 16"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(told(row.text), "! " + std::string(row.problem));
    // Passing over it finds the same.
    JsonReader json(row.text);
    json.skip();
    json.end();
    EXPECT_TRUE(json.failed());
    EXPECT_FALSE(ExactJson::parse(row.text, 16));
  }
}

TEST(JsonReader, ReadsAgainFromAMark) {
  JsonReader json(R"([{"a":[1,2]},7])");
  json.begin_array();
  ASSERT_TRUE(json.next_item());
  const auto mark = json.mark();
  json.begin_object();
  std::string_view name;
  ASSERT_TRUE(json.next_member(name));

  json.go_back(mark);

  json.skip();
  ASSERT_TRUE(json.next_item());
  EXPECT_EQ(json.number(), "7");
  EXPECT_FALSE(json.next_item());
  json.end();
  EXPECT_FALSE(json.failed());
}

}  // namespace HK_TEST_FILE
}  // namespace hk
