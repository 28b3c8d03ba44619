#include "base/encoding.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hk {
namespace HK_TEST_FILE {

TEST(Base64, WritesAndReadsTheTextsOfRfc4648) {
  struct Row {
    std::string bytes;
    std::string padded;
    std::string url;
  };
  const Row rows[] = {
      {"", "", ""},
      {"f", "Zg==", "Zg"},
      {"fo", "Zm8=", "Zm8"},
      {"foo", "Zm9v", "Zm9v"},
      {"foob", "Zm9vYg==", "Zm9vYg"},
      {"fooba", "Zm9vYmE=", "Zm9vYmE"},
      {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
      {"\xfb\xff\xfe", "+//+", "-__-"},
      {std::string(3, '\0'), "AAAA", "AAAA"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.padded);
    EXPECT_EQ(base64(row.bytes), row.padded);
    EXPECT_EQ(unbase64(row.padded), row.bytes);
    EXPECT_EQ(base64url(row.bytes), row.url);
    EXPECT_EQ(unbase64url(row.url), row.bytes);
  }
}

TEST(Base64, RefusesWhatIsNotItsOwnText) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "==", "====", "A===", "Zm9v====", "Zh==", "Zm9=", "Zm 9v",
        "Zm9v\n", "Zm9-", "Z===", "Zg==Zg=="}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(unbase64(text), std::nullopt);
  }
  for (const std::string_view text : {"Z", "Zg==", "Zh", "Zm9", "Zm9+", "Zm9v ", "ZZZZZ", "="}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(unbase64url(text), std::nullopt);
  }
}

TEST(Hex, WritesLowerCaseAndReadsBoth) {
  EXPECT_EQ(hex(std::string("\x00\x0f\xf0\xff", 4)), "000ff0ff");
  EXPECT_EQ(unhex("000ff0ff"), std::string("\x00\x0f\xf0\xff", 4));
  EXPECT_EQ(unhex("AbCdEf"), "\xab\xcd\xef");
  EXPECT_EQ(unhex(""), "");
  for (const std::string_view text : {"0", "0g", "g0", "000", "0x", " 0", "0\n", "@A", "`a"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(unhex(text), std::nullopt);
  }
}

TEST(Encoding, GivesRandomBytesBackInEveryForm) {
  SeededRng rng(3);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (std::uint64_t left = rng.below(70); left > 0; --left) {
      bytes.push_back(static_cast<char>(rng.below(256)));
    }
    EXPECT_EQ(unhex(hex(bytes)), bytes);
    EXPECT_EQ(unbase64(base64(bytes)), bytes);
    EXPECT_EQ(unbase64url(base64url(bytes)), bytes);
  }
}

// Half of the texts are made of characters that are nearly right, so that many are accepted and the
// way back is compared, too.
TEST(Encoding, ReadsRandomTextsOnlyWhenItWouldWriteThemSo) {
  SeededRng rng(4);
  const std::string_view close = "AQgwZm9v08afAF+/-_==";
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string text;
    const bool nearly = rng.below(2) == 0;
    for (std::uint64_t left = rng.below(14); left > 0; --left) {
      text.push_back(nearly ? close[rng.below(close.size())] : static_cast<char>(rng.below(256)));
    }
    if (const auto bytes = unbase64(text)) {
      ASSERT_EQ(base64(*bytes), text);
      ++accepted;
    }
    if (const auto bytes = unbase64url(text)) {
      ASSERT_EQ(base64url(*bytes), text);
      ++accepted;
    }
    if (const auto bytes = unhex(text)) {
      ASSERT_EQ(bytes->size() * 2, text.size());
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 10000);
}

}  // namespace HK_TEST_FILE
}  // namespace hk
