#include "security/credentials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <concepts>
#include <ostream>
#include <set>
#include <sstream>

namespace hk::security {
namespace HK_TEST_FILE {

template <class T>
concept Comparable = requires(const T& a, const T& b) { a == b; };
template <class T>
concept Differing = requires(const T& a, const T& b) { a != b; };
template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
template <class T>
concept StringStreamable = requires(std::ostringstream& out, const T& value) { out << value; };

// The concepts can tell: a text has what a secret must not have.
static_assert(Comparable<std::string> && Differing<std::string> && Printable<std::string>);
static_assert(!Comparable<Secret> && !Differing<Secret>);
static_assert(!Printable<Secret> && !StringStreamable<Secret>);
static_assert(!std::convertible_to<Secret, std::string> &&
              !std::convertible_to<Secret, std::string_view> &&
              !std::convertible_to<std::string, Secret>);

Secret hex_key(char digit) { return Secret(std::string(64, digit)); }
MasterKey key(char digit = 'a') { return MasterKey::from_hex(hex_key(digit)).value(); }

TEST(MasterKey, IsMadeOf64HexadecimalDigitsOnly) {
  EXPECT_TRUE(MasterKey::from_hex(hex_key('0')));
  EXPECT_TRUE(MasterKey::from_hex(hex_key('F')));
  for (const std::string& text :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(66, 'a'),
        std::string(64, 'g'), std::string(32, 'a')}) {
    SCOPED_TRACE(text);
    const auto made = MasterKey::from_hex(Secret(text));

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(made.error().message.find("64 hexadecimal digits"), std::string::npos);
    EXPECT_TRUE(text.empty() || made.error().message.find(text) == std::string::npos);
  }
}

TEST(MasterKey, DigestsATokenTheSameWayForItselfAndOtherwiseForAnotherKey) {
  EXPECT_EQ(key().token_digest("token").size(), 32U);
  EXPECT_EQ(key().token_digest("token"), key().token_digest("token"));
  EXPECT_NE(key().token_digest("token"), key().token_digest("tokem"));
  EXPECT_NE(key('a').token_digest("token"), key('b').token_digest("token"));
}

TEST(MasterKey, TakesThePepperOverAndNothingElse) {
  const MasterKey before = key('a');
  const MasterKey next = key('b').taking_over_from(before);

  EXPECT_EQ(next.token_digest("token"), before.token_digest("token"));
  EXPECT_TRUE(next.same_as(key('b')));
  EXPECT_FALSE(next.same_as(before));
  const std::string sealed = next.seal(Secret("s"), "c");
  EXPECT_FALSE(before.open(sealed, "c"));
  EXPECT_TRUE(key('b').open(sealed, "c"));
}

TEST(MasterKey, GetsItsPepperBackFromTheStore) {
  const MasterKey next = key('b').taking_over_from(key('a'));
  const std::string sealed = next.sealed_pepper();

  const auto again = key('b').with_pepper(sealed);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->token_digest("token"), key('a').token_digest("token"));
  const auto third = key('c').taking_over_from(*again);
  EXPECT_EQ(third.token_digest("token"), key('a').token_digest("token"));

  const auto other = key('a').with_pepper(sealed);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::corruption);
}

TEST(MasterKey, DerivesKeysThatAnOldKeyDoesNotKnowOnceItHasTakenOver) {
  const MasterKey next = key('b').taking_over_from(key('a'));
  const MasterKey again = key('b').with_pepper(next.sealed_pepper()).value();
  const auto derived = [](const MasterKey& from) {
    return std::string(from.derived_for("p").reveal());
  };

  EXPECT_EQ(derived(key('a')), "c6ffd010b55f56cf9d7a4aa80d62bd8df9f64d3b782fa7e9acf6bab17500703c")
      << "format 1 has it so";
  EXPECT_NE(derived(next), derived(key('a')));
  EXPECT_NE(derived(next), derived(key('b')));
  EXPECT_EQ(derived(next), derived(again));
  EXPECT_NE(derived(next), std::string(next.derived_for("q").reveal()));
  EXPECT_TRUE(MasterKey::from_hex(next.derived_for("p")));
}

TEST(MasterKey, OpensWhatItSealed) {
  for (const std::string& plain :
       {std::string("sig_abc"), std::string(), std::string(5000, '\0')}) {
    for (const std::string_view context :
         {std::string_view("tenant 1/signing key"), std::string_view()}) {
      const std::string sealed = key().seal(Secret(plain), context);

      const auto opened = key().open(sealed, context);

      ASSERT_TRUE(opened);
      EXPECT_EQ(opened->reveal(), plain);
      EXPECT_TRUE(plain.size() < 4 || sealed.find(plain.substr(0, 4)) == std::string::npos);
    }
  }
}

TEST(MasterKey, SealsTheSameSecretDifferentlyEachTime) {
  std::set<std::string> sealed;
  for (int i = 0; i < 100; ++i) {
    sealed.insert(key().seal(Secret("same"), "here"));
  }
  EXPECT_EQ(sealed.size(), 100U);
}

TEST(MasterKey, DoesNotOpenASecretInAnotherPlaceOrWithAnotherKey) {
  const std::string mine = key().seal(Secret("mine"), "tenant 1");
  const std::string yours = key().seal(Secret("your"), "tenant 2");

  for (const auto& opened :
       {key().open(mine, "tenant 2"), key().open(yours, "tenant 1"), key().open(mine, ""),
        key().open(mine, "tenant 1 "), key('b').open(mine, "tenant 1")}) {
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::corruption);
  }
  // The parts of two records do not make a third: the head of one with the body of the other.
  EXPECT_FALSE(key().open(mine.substr(0, 17) + yours.substr(17), "tenant 1"));
  EXPECT_FALSE(key().open(mine.substr(0, 29) + yours.substr(29), "tenant 1"));
}

TEST(MasterKey, NoticesAChangeOfAnyBitOfASealedSecret) {
  const std::string sealed = key().seal(Secret("a signing key"), "tenant 1");
  for (std::size_t i = 0; i < sealed.size() * 8; ++i) {
    std::string altered = sealed;
    altered[i / 8] = static_cast<char>(altered[i / 8] ^ (1 << (i % 8)));

    const auto opened = key().open(altered, "tenant 1");

    ASSERT_FALSE(opened) << "bit " << i;
    EXPECT_EQ(opened.error().kind, ErrorKind::corruption);
  }
}

TEST(MasterKey, NoticesThatASealedSecretWasCutOrLengthened) {
  const std::string sealed = key().seal(Secret("a signing key"), "tenant 1");
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(key().open(std::string_view(sealed).substr(0, size), "tenant 1")) << size;
  }
  EXPECT_FALSE(key().open(sealed + '\0', "tenant 1"));
}

TEST(Token, HasItsKindAndAChecksumAndNeverComesTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const Secret token = make_token("live");
    const std::string text(token.reveal());

    ASSERT_EQ(text.size(), 8U + 43U + 6U);
    EXPECT_TRUE(text.starts_with("hk_live_"));
    EXPECT_TRUE(looks_like_token(text));
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Token, IsKnownToBeMistypedWhenOneCharacterIsWrong) {
  const std::string token(make_token("live").reveal());
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string mistyped = token;
    mistyped[i] = mistyped[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(looks_like_token(mistyped)) << i;
  }
  for (const std::string& text :
       {std::string(), std::string("hk_"), token.substr(0, token.size() - 1), token + "0",
        token.substr(1), std::string(57, '_')}) {
    EXPECT_FALSE(looks_like_token(text)) << text;
  }
}

TEST(SigningKey, IsSigAnd28LettersAndDigits) {
  std::set<std::string> seen;
  std::set<char> used;
  for (int i = 0; i < 500; ++i) {
    const std::string text(make_signing_key().reveal());

    ASSERT_EQ(text.size(), 32U);
    EXPECT_TRUE(text.starts_with("sig_"));
    EXPECT_TRUE(
        std::all_of(text.begin() + 4, text.end(), [](unsigned char c) { return std::isalnum(c); }));
    used.insert(text.begin() + 4, text.end());
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 500U);
  EXPECT_EQ(used.size(), 62U);
}

TEST(AccessKey, IsHKAnd18CapitalsAndDigitsWithASecretOf40LettersAndDigits) {
  std::set<std::string> seen;
  std::set<char> used;
  for (int i = 0; i < 500; ++i) {
    const std::string id = make_access_key_id();
    const std::string secret(make_access_key_secret().reveal());

    ASSERT_EQ(id.size(), 20U);
    EXPECT_TRUE(id.starts_with("HK"));
    used.insert(id.begin() + 2, id.end());
    ASSERT_EQ(secret.size(), 40U);
    EXPECT_TRUE(std::ranges::all_of(secret, [](unsigned char c) { return std::isalnum(c); }));
    seen.insert(id);
    seen.insert(secret);
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(std::string(used.begin(), used.end()), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

TEST(SystemRng, GivesOtherNumbersEachTimeAcrossItsBuffer) {
  SystemRng rng;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(rng.next());
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::security
