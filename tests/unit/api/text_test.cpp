#include "api/text.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace hk::api {
namespace HK_TEST_FILE {

TEST(ParseDuration, ReadsEveryFormAndRefusesTheRest) {
  struct Row {
    std::string_view text;
    std::optional<std::int64_t> ms;
  };
  const Row rows[] = {
      {"10s", 10'000},
      {"1d10h30m", 123'000'000 + 1'200'000},
      {"0s", 0},
      {"5", 5'000},
      {"1.5", 1'500},
      {"1.5h", 5'400'000},
      {"0.001s", 1},
      {"1h1h", 7'200'000},
      {"36500d", std::int64_t{36'500} * 86'400'000},
      {"36501d", {}},
      {"99999999999999999999s", {}},
      {"9223372036854775807s", {}},
      {"", {}},
      {"s", {}},
      {"-1s", {}},
      {"+1s", {}},
      {"1x", {}},
      {"1h30", {}},
      {"1 s", {}},
      {"10S", {}},
      {"1.s", {}},
      {".5s", {}},
      {"1ms", 1},
      {"500ms", 500},
      {"1s500ms", 1'500},
      {"1m", 60'000},
      {"1m30", {}},
      {"1e3s", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);

    const Result<Millis> read = parse_duration(row.text);

    ASSERT_EQ(read.has_value(), row.ms.has_value());
    if (row.ms) {
      EXPECT_EQ(read->count(), *row.ms);
    } else {
      EXPECT_EQ(read.error().kind, ErrorKind::invalid_argument);
    }
  }
}

TEST(ParseUnsigned, TakesDigitsOnly) {
  EXPECT_EQ(parse_unsigned("0"), 0U);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  for (const std::string_view text :
       {"", "-1", "+1", " 1", "1 ", "1.0", "18446744073709551616", "x"}) {
    EXPECT_FALSE(parse_unsigned(text)) << text;
  }
}

TEST(ValidName, TakesTheDocumentedCharactersOnly) {
  for (const std::string_view name : {"a", "My-queue_1.2", "..", "-"}) {
    EXPECT_TRUE(valid_name(name)) << name;
  }
  for (const std::string_view name : {"", "a b", "a/b", "ä", "a:b"}) {
    EXPECT_FALSE(valid_name(name)) << name;
  }
}

TEST(CanonicalHeaderName, CapitalisesEveryWord) {
  EXPECT_EQ(canonical_header_name("content-TYPE"), "Content-Type");
  EXPECT_EQ(canonical_header_name("x-api-key"), "X-Api-Key");
  EXPECT_EQ(canonical_header_name("ETag"), "Etag");
}

TEST(SplitCommas, TrimsAndLeavesOutEmptyParts) {
  EXPECT_EQ(split_commas(" a, b ,,c "), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(split_commas(" , ").empty());
}

TEST(JsonWriter, PutsCommasBetweenAndNowhereElse) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("a", 1);
  json.key("b");
  json.begin_array();
  json.end_array();
  json.key("c");
  json.begin_array();
  json.string("x");
  json.begin_object();
  json.field("t", true);
  json.end_object();
  json.null();
  json.end_array();
  json.field("d", "y");
  json.end_object();

  EXPECT_EQ(out, R"({"a":1,"b":[],"c":["x",{"t":true},null],"d":"y"})");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api
