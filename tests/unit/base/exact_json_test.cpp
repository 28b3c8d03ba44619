#include "base/exact_json.h"

#include <gtest/gtest.h>

namespace hk {
namespace HK_TEST_FILE {

std::string canonical(std::string_view text) {
  const auto json = ExactJson::parse(text, 16);
  EXPECT_TRUE(json) << text;
  const auto in_one_pass = ExactJson::canonical_of(text, 16);
  EXPECT_TRUE(in_one_pass && json && *in_one_pass == json->canonical()) << text;
  return json ? json->canonical() : "";
}

/// Appendix B of RFC 8785, and what ECMAScript says of the borders between its forms.
TEST(ExactJson, WritesNumbersAsEcmaScriptDoes) {
  struct Row {
    std::string_view given;
    std::string_view canonical;
  };
  const Row rows[] = {
      {"0", "0"},
      {"-0", "0"},
      {"-0.0", "0"},
      {"5e-324", "5e-324"},
      {"-5e-324", "-5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"9007199254740991", "9007199254740991"},
      {"295147905179352830000.0", "295147905179352830000"},
      {"9.999999999999997e22", "9.999999999999997e+22"},
      {"1e23", "1e+23"},
      {"1.0000000000000001e+23", "1.0000000000000001e+23"},
      {"999999999999999700000.0", "999999999999999700000"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"333333333.33333329", "333333333.3333333"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"1.50", "1.5"},
      {"4.50e0", "4.5"},
      {"2e-3", "0.002"},
      {"100", "100"},
      {"1e2", "100"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(canonical(row.given), row.canonical) << row.given;
  }
}

TEST(ExactJson, KeepsTheDigitsOfIntegersThatADoubleCannotHold) {
  EXPECT_EQ(canonical("9007199254740993"), "9007199254740993");
  EXPECT_EQ(canonical("-9007199254740993"), "-9007199254740993");
  EXPECT_EQ(canonical("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_NE(canonical("[9007199254740992]"), canonical("[9007199254740993]"));
}

TEST(ExactJson, SortsMembersDeeplyAndByUtf16) {
  EXPECT_EQ(canonical(R"( { "b" : [ 1 , { "d":2 , "c" : null } ] , "a" : true } )"),
            R"({"a":true,"b":[1,{"c":null,"d":2}]})");
  // U+1F600 is a pair of surrogates, which come before U+FB33.
  EXPECT_EQ(
      canonical("{\"\xEF\xAC\xB3\":1,\"\xF0\x9F\x98\x80\":2,\"\xC3\xB6\":3,\"\\r\":4,\"1\":5}"),
      "{\"\\r\":4,\"1\":5,\"\xC3\xB6\":3,\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":1}");
  EXPECT_EQ(canonical(R"({"ab":1,"a":2})"), R"({"a":2,"ab":1})");
}

TEST(ExactJson, PutsMembersInOrderWhateverTheirOrderWas) {
  EXPECT_EQ(canonical(R"({"c":{"z":[],"y":{}},"a":[{"b":1,"a":"x"},[]],"b":"\n"})"),
            R"({"a":[{"a":"x","b":1},[]],"b":"\n","c":{"y":{},"z":[]}})");
  // By what the names mean, not by how they are written.
  EXPECT_EQ(canonical(R"({"b":1,"\u0061":2,"\"":3})"), R"({"\"":3,"a":2,"b":1})");
  EXPECT_EQ(canonical(R"([{}, {"":{"":1}}, [[]], -12, 1e1])"), R"([{},{"":{"":1}},[[]],-12,10])");
}

TEST(ExactJson, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(canonical(R"("\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\/")"),
            "\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"");
}

TEST(ExactJson, GivesBackWhatWasWritten) {
  const auto json = ExactJson::parse(R"( {"z": 1.10, "a": [1e2, "\u00e9"]} )", 16);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->to_text(), "{\"z\":1.10,\"a\":[1e2,\"\xC3\xA9\"]}");
  ASSERT_NE(json->member("z"), nullptr);
  EXPECT_EQ(json->member("z")->text, "1.10");
  EXPECT_EQ(json->member("none"), nullptr);
}

TEST(ExactJson, RefusesWhatIsNoJsonOrNotOneThing) {
  for (const std::string_view text :
       {"", "{", "{} x", "nul", "01", "1.", "\"\xFF\"", R"({"a":1,"a":2})", R"([{"":1,"":2}])",
        R"({"a":1,"\u0061":2})", "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"}) {
    const auto json = ExactJson::parse(text, 16);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().kind, ErrorKind::invalid_argument) << text;
    const auto in_one_pass = ExactJson::canonical_of(text, 16);
    ASSERT_FALSE(in_one_pass) << text;
    EXPECT_EQ(in_one_pass.error().message, json.error().message) << text;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk
