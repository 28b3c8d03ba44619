#include "api/aws/message_attributes.h"

#include <gtest/gtest.h>

namespace hk::api::aws {
namespace HK_TEST_FILE {

MessageAttribute text(std::string value, std::string type = "String") {
  return {std::move(type), std::move(value), {}, false};
}
MessageAttribute bytes(std::string value, std::string type = "Binary") {
  return {std::move(type), {}, std::move(value), false};
}

TEST(MessageMd5, GivesTheRecordedDigests) {
  const MessageAttribute me = text("Me");
  const MessageAttribute there = text("There");
  const MessageAttribute kenobi = text("Kenobi");
  struct Row {
    std::string_view md5;
    MessageAttributes attributes;
  };
  const Row rows[] = {
      {"4c360f3fdafd970e05fae2f149d997f5",
       {{"Help.Me", me}, {"Hello", there}, {"General", kenobi}}},
      {"fca026605781cb4126a1e9044df24232", {{"Hello", there}, {"General", kenobi}}},
      {"a311262e065454b75da111d535b8dacd", {{"Hello", there}}},
      {"83fee93c1bcd8b9a5a923ffacdc636c7", {{"Hello", there}, {"Help.Me", me}}},
      {"a45daa70926828a2f0a1db3418e6feb4", {{"k", text("x")}}},
      {"235c5c510d26fb653d073faed50ae77c", {{"timestamp", text("1493147359900", "Number")}}},
      {"8cbe4db156db8a94db8b801b7addb984",
       {{"attr1", bytes("traceparent\x1e"
                        "00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01")}}},
      {"5ae4d5d7636402d80f4eb6d213245a88",
       {{"AWSTraceHeader",
         text("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")}}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.md5);
    EXPECT_EQ(md5_of_attributes(row.attributes), row.md5);
  }
  EXPECT_EQ(md5_of_attributes({}), std::nullopt);
  EXPECT_EQ(md5_of_body("message"), "78e731027d8fd50ed642340b7c9a63b3");
}

TEST(MessageMd5, CountsTheLabelOfTheTypeAndBytesNotCharacters) {
  EXPECT_NE(md5_of_attributes({{"a", text("1", "Number")}}),
            md5_of_attributes({{"a", text("1", "Number.int")}}));
  // MD5 of 00000001 61 00000006 "String" 01 00000002 c3 a9, computed apart
  EXPECT_EQ(md5_of_attributes({{"a", text("\xc3\xa9")}}), "c4165ff38d6f49dc65bdda0cf099bde4");
}

TEST(MessageBody, MayHoldTheCharactersOfXml) {
  struct Row {
    std::string_view name;
    std::string_view body;
    std::optional<ErrorCode> refused;
  };
  constexpr ErrorCode contents = ErrorCode::invalid_message_contents;
  const Row rows[] = {
      {"text", "message", {}},
      {"one byte", "x", {}},
      {"U+9 U+A U+D U+20", "\t\n\r ", {}},
      {"U+7F", "\x7f", {}},
      {"U+D7FF", "\xed\x9f\xbf", {}},
      {"U+E000", "\xee\x80\x80", {}},
      {"U+FFFD", "\xef\xbf\xbd", {}},
      {"U+10000", "\xf0\x90\x80\x80", {}},
      {"emoji", "\xf0\x9f\x98\x80", {}},
      {"U+10FFFF", "\xf4\x8f\xbf\xbf", {}},
      {"empty", "", ErrorCode::missing_parameter},
      {"U+0", std::string_view("a\0", 2), contents},
      {"U+8", "\x08", contents},
      {"U+B", "\x0b", contents},
      {"U+1F", "\x1f", contents},
      {"U+D800, a surrogate", "\xed\xa0\x80", contents},
      {"U+FFFE", "\xef\xbf\xbe", contents},
      {"U+FFFF", "x\xef\xbf\xbf", contents},
      {"beyond U+10FFFF", "\xf4\x90\x80\x80", contents},
      {"not UTF-8", "\xff", contents},
      {"cut UTF-8", "ab\xc3", contents},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto checked = check_body(row.body);
    EXPECT_EQ(checked.has_value(), !row.refused);
    if (row.refused && !checked) {
      EXPECT_EQ(checked.error().code, *row.refused);
    }
  }
}

TEST(MessageAttributesCheck, RefusesWhatTheServiceRefuses) {
  struct Row {
    std::string_view name;
    MessageAttributes attributes;
    std::optional<ErrorCode> refused;
  };
  constexpr ErrorCode invalid = ErrorCode::invalid_parameter_value;
  MessageAttributes ten;
  for (int i = 0; i < 10; ++i) {
    ten.emplace("a" + std::to_string(i), text("x"));
  }
  MessageAttributes eleven = ten;
  eleven.emplace("b", text("x"));
  MessageAttribute list = text("x");
  list.has_list = true;
  MessageAttribute both = text("x");
  both.binary_value = "y";
  MessageAttribute empty_other = text("x");
  empty_other.binary_value = "";
  const std::string long_name(256, 'n');
  const std::string long_type = "String." + std::string(249, 't');
  const Row rows[] = {
      {"none", {}, {}},
      {"one of each", {{"s", text("x")}, {"n", text("1", "Number")}, {"b", bytes("x")}}, {}},
      {"with labels",
       {{"s", text("x", "String.a.b")},
        {"n", text("1", "Number.int")},
        {"b", bytes("x", "Binary.gif")}},
       {}},
      {"ten", ten, {}},
      {"eleven", eleven, invalid},
      {"all characters of a name", {{"aZ0_-.b", text("x")}}, {}},
      {"longest name", {{long_name, text("x")}}, {}},
      {"longer name", {{long_name + "n", text("x")}}, invalid},
      {"no name", {{"", text("x")}}, invalid},
      {"a blank in the name", {{"a b", text("x")}}, invalid},
      {"a letter of Latin-1", {{"\xc3\xa9", text("x")}}, invalid},
      {"begins with a dot", {{".a", text("x")}}, invalid},
      {"ends with a dot", {{"a.", text("x")}}, invalid},
      {"two dots", {{"a..b", text("x")}}, invalid},
      {"reserved AWS.", {{"AWS.x", text("x")}}, invalid},
      {"reserved aws.", {{"aws.x", text("x")}}, invalid},
      {"reserved Amazon.", {{"AMAZON.x", text("x")}}, invalid},
      {"like a reserved one", {{"AWSx", text("x")}}, {}},
      {"longest type", {{"a", text("x", long_type)}}, {}},
      {"longer type", {{"a", text("x", long_type + "t")}}, invalid},
      {"no type", {{"a", text("x", "")}}, invalid},
      {"unknown type", {{"a", text("x", "Text")}}, invalid},
      {"type in lower case", {{"a", text("x", "string")}}, invalid},
      {"type glued to something", {{"a", text("x", "Strings")}}, invalid},
      {"type with an empty label", {{"a", text("x", "String.")}}, invalid},
      {"control character in the label", {{"a", text("x", "String.\x01")}}, invalid},
      {"empty text", {{"a", text("")}}, invalid},
      {"no text", {{"a", {"String", {}, {}, false}}}, invalid},
      {"text for Binary", {{"a", text("x", "Binary")}}, invalid},
      {"bytes for String", {{"a", bytes("x", "String")}}, invalid},
      {"empty bytes", {{"a", bytes("")}}, invalid},
      {"both", {{"a", both}}, invalid},
      {"the other one empty", {{"a", empty_other}}, {}},
      {"control character", {{"a", text("\x01")}}, invalid},
      {"any bytes in Binary", {{"a", bytes(std::string("\0\xff\x01", 3))}}, {}},
      {"not a number", {{"a", text("one", "Number")}}, invalid},
      {"list of values", {{"a", list}}, ErrorCode::unsupported_operation},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto checked = check_attributes(row.attributes);
    EXPECT_EQ(checked.has_value(), !row.refused);
    if (row.refused && !checked) {
      EXPECT_EQ(checked.error().code, *row.refused);
    }
  }
}

TEST(MessageAttributesCheck, TheirNumberIsAMatterOfTheService) {
  MessageAttributes many;
  for (int i = 0; i < 40; ++i) {
    many.emplace("a" + std::to_string(i), text("x"));
  }

  EXPECT_FALSE(check_attributes(many));
  EXPECT_TRUE(check_attributes(many, many.size()));
}

TEST(MessageAttributesCheck, KnowsTheRangeOfNumbers) {
  struct Row {
    std::string_view text;
    bool good;
  };
  const std::string digits38(38, '9');
  const std::string digits39 = digits38 + "9";
  const std::string zeros = std::string(60, '0') + "1" + std::string(60, '0') + ".000";
  const std::string long_text(513, '0');
  const Row rows[] = {
      {"0", true},        {"-0", true},        {"0.000", true},
      {"1", true},        {"+1", true},        {"-17.25", true},
      {".5", true},       {"5.", true},        {"1e5", true},
      {"1E+5", true},     {"-1.5e-7", true},   {digits38, true},
      {digits39, false},  {"0.", true},        {zeros, true},
      {"1e126", true},    {"10e125", true},    {"1.1e126", false},
      {"2e126", false},   {"1e127", false},    {"-1e126", true},
      {"-1e127", false},  {"9.9e125", true},   {"1e-128", true},
      {"9e-129", false},  {"0.1e-127", true},  {"0e999", true},
      {"1e99999", false}, {"1e-99999", false}, {"1e999999999999", false},
      {"", false},        {".", false},        {"-", false},
      {"e5", false},      {"1e", false},       {"1e+", false},
      {"1.2.3", false},   {"1 ", false},       {" 1", false},
      {"0x10", false},    {"NaN", false},      {"Infinity", false},
      {"1,5", false},     {"--1", false},      {long_text, false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(allowed_number(row.text), row.good);
  }
}

TEST(MessageAttributesCheck, TheOnlySystemAttributeIsTheTraceHeader) {
  EXPECT_TRUE(check_system_attributes({}));
  EXPECT_TRUE(check_system_attributes({{"AWSTraceHeader", text("Root=1")}}));
  for (const MessageAttributes& attributes :
       {MessageAttributes{{"Other", text("x")}},
        MessageAttributes{{"AWSTraceHeader", text("1", "Number")}},
        MessageAttributes{{"AWSTraceHeader", text("x", "String.x")}},
        MessageAttributes{{"AWSTraceHeader", text("")}}}) {
    const auto checked = check_system_attributes(attributes);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_parameter_value);
  }
}

TEST(MessageSize, CountsNamesTypesAndDecodedValues) {
  EXPECT_EQ(message_bytes("", {}), 0U);
  EXPECT_EQ(message_bytes("caf\xc3\xa9", {}), 5U);
  EXPECT_EQ(message_bytes("xy", {{"abc", text("1", "Number.int")}, {"b", bytes("\x01\x02\x03")}}),
            2U + (3 + 10 + 1) + (1 + 6 + 3));
}

TEST(AttributesAskedFor, FollowThePatternsOfTheService) {
  struct Row {
    std::vector<std::string> patterns;
    std::vector<std::string_view> names;
  };
  const std::vector<std::string_view> all = {"General", "Hello", "Help.Me"};
  const Row rows[] = {
      {{}, {}},
      {{"All"}, all},
      {{".*"}, all},
      {{"*"}, all},
      {{"Hello"}, {"Hello"}},
      {{"hello"}, {}},
      {{"Hel.*"}, {"Hello", "Help.Me"}},
      {{"Help.*"}, {"Help.Me"}},
      {{"Help.Me.*"}, {"Help.Me"}},
      {{"Hello", "General"}, {"General", "Hello"}},
      {{"Hel*"}, {}},
      {{"?", "[", "", "."}, {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.patterns.empty() ? "(none)" : row.patterns.front());
    std::vector<std::string_view> taken;
    for (const std::string_view name : all) {
      if (attribute_asked_for(name, row.patterns)) {
        taken.push_back(name);
      }
    }
    EXPECT_EQ(taken, row.names);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
