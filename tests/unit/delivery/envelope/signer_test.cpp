#include "delivery/envelope/signer.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <boost/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace hk::delivery {
namespace HK_TEST_FILE {

/// Independent of the code under test: OpenSSL's one-shot functions and a decoder of our own.
std::string unbase64url(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::size_t digit = alphabet.find(c);
    EXPECT_NE(digit, std::string_view::npos) << c;
    bits = (bits << 6U) | static_cast<unsigned>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>((bits >> count) & 0xffU));
    }
  }
  return out;
}

std::string hmac(std::string_view key, std::string_view text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  return {reinterpret_cast<const char*>(mac), size};
}

std::string sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

struct Token {
  std::string head;
  std::string claims;
  std::string mac;
  std::string signed_part;
};

Token split(const std::string& text) {
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  EXPECT_EQ(text.find('.', second + 1), std::string::npos);
  return {unbase64url(text.substr(0, first)),
          unbase64url(text.substr(first + 1, second - first - 1)),
          unbase64url(text.substr(second + 1)), text.substr(0, second)};
}

const Secret key{"sig_0123456789abcdefghijklmnopq"};

TEST(Signer, MakesATokenThatAnIndependentVerifierAccepts) {
  for (const std::string& body : {std::string(), std::string("{\"a\":1}"),
                                  std::string(100'000, 'x'), std::string("\0\xff", 2)}) {
    for (const std::string& url :
         {std::string("https://example.com"), std::string("https://example.com/a?b=\"c\"&d=%20")}) {
      SCOPED_TRACE(url);
      Signer signer(1);
      std::string text;
      signer.append_token(text, key, {url, body, 1'700'000'000, {4, 2}});

      const Token token = split(text);

      EXPECT_EQ(token.head, R"({"alg":"HS256","typ":"JWT"})");
      EXPECT_EQ(token.mac, hmac(key.reveal(), token.signed_part));
      const auto claims = boost::json::parse(token.claims).as_object();
      EXPECT_EQ(claims.at("iss").as_string(), "Upstash");
      EXPECT_EQ(std::string(claims.at("sub").as_string().c_str()), url);
      EXPECT_EQ(claims.at("iat").as_int64(), 1'700'000'000);
      EXPECT_EQ(claims.at("exp").as_int64(), 1'700'000'300);
      EXPECT_EQ(claims.at("nbf").as_int64(), 0);
      EXPECT_TRUE(std::string(claims.at("jti").as_string().c_str()).starts_with("jwt_"));
      std::string hash(claims.at("body").as_string().c_str());
      EXPECT_TRUE(hash.ends_with("="));
      hash.pop_back();
      EXPECT_EQ(unbase64url(hash), sha256(body));
      EXPECT_EQ(claims.at("fence").as_string(), "0.4.2");
      EXPECT_EQ(claims.at("attempt").as_int64(), 2);
      EXPECT_EQ(claims.size(), 9U);
    }
  }
}

TEST(Signer, GivesEveryTokenItsOwnId) {
  Signer one(1);
  Signer other(2);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    for (Signer* signer : {&one, &other}) {
      std::string text;
      signer->append_token(text, key, {"https://example.com", "", 1, {1, 1}});
      seen.insert(text);
    }
  }
  EXPECT_EQ(seen.size(), 2000U);
}

TEST(Signer, AppendsBehindWhatIsThere) {
  Signer signer(1);
  std::string text = "Upstash-Signature: a.b";
  signer.append_token(text, key, {"https://example.com", "", 1, {1, 1}});

  ASSERT_TRUE(text.starts_with("Upstash-Signature: a.beyJ"));
  const Token token = split(text.substr(22));
  EXPECT_EQ(token.mac, hmac(key.reveal(), token.signed_part));
}

TEST(FenceText, IsPartitionEpochAttempt) {
  EXPECT_EQ(fence_text(core::PartitionId{}, {7, 12}), "0.7.12");
  EXPECT_EQ(fence_text(core::PartitionId{3}, {7, 12}), "3.7.12");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
