#include <gtest/gtest.h>

#include "outbox/send/sign_v4.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

AwsCredentials credentials() {
  return {.access_key_id = "AKIDEXAMPLE",
          .secret_access_key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
          .session_token = {},
          .region = "us-east-1",
          .service = "service"};
}

constexpr Moment published = moment_from_ms(1'440'938'160'000);  // 20150830T123600Z
constexpr std::string_view beginning =
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ";

using Headers = std::vector<core::Header>;

// The vectors of AWS's test suite for Signature Version 4: post-vanilla, post-x-www-form-urlencoded
// and post-sts-header-before.
TEST(SendSignV4, GivesThePublishedVectors) {
  const std::string token =
      "AQoDYXdzEPT//////////"
      "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPf"
      "IeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/"
      "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7W"
      "Z0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
      "scqKmlzm8F"
      "DrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
  struct Case {
    Headers headers;
    std::string body;
    std::string session_token;
    std::string expected;
  };
  const Case cases[] = {
      {{},
       "",
       "",
       "SignedHeaders=host;x-amz-date, "
       "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {{{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1",
       "",
       "SignedHeaders=content-type;host;x-amz-date, "
       "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
      {{},
       "",
       token,
       "SignedHeaders=host;x-amz-date;x-amz-security-token, "
       "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
  };
  for (const Case& one : cases) {
    AwsCredentials temporary = credentials();
    temporary.session_token = Secret(one.session_token);
    V4Signer signer(std::move(temporary));
    Headers headers = one.headers;

    signer.sign("example.amazonaws.com", one.body, published, headers);

    EXPECT_EQ(headers.back(),
              (core::Header{"Authorization", std::string(beginning) + one.expected}));
    EXPECT_EQ(headers[one.headers.size()], (core::Header{"X-Amz-Date", "20150830T123600Z"}));
  }
}

TEST(SendSignV4, TakesANewKeyForANewDay) {
  V4Signer kept(credentials());
  Headers first;
  kept.sign("example.amazonaws.com", "", published, first);
  Headers kept_later;
  Headers fresh_later;
  const Moment later = published + std::chrono::hours(24);

  kept.sign("example.amazonaws.com", "", later, kept_later);
  V4Signer(credentials()).sign("example.amazonaws.com", "", later, fresh_later);

  EXPECT_EQ(kept_later, fresh_later);
  EXPECT_NE(kept_later.back(), first.back());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
