#include "security/webhook_signature.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/encoding.h"
#include "security/digest.h"

namespace hk::security {
namespace {
namespace HK_TEST_FILE {

constexpr std::string_view secret_a = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view secret_b = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
constexpr std::string_view whole_pair =
    "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==";
constexpr std::string_view public_half = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
constexpr SignedContent content{.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
                                .timestamp = "1614265330",
                                .body = "{\"test\": 2432232314}"};

WebhookSecret parsed(std::string_view text) {
  Result<WebhookSecret> secret = parse_secret(text);
  EXPECT_TRUE(secret) << text << ": " << secret.error().message;
  return secret ? std::move(*secret) : WebhookSecret{};
}

TEST(WebhookSignature, SignsAsTheVectorsSay) {
  struct Row {
    std::string_view name;
    std::vector<std::string_view> secrets;
    std::string_view signature;
  };
  const Row rows[] = {
      {"v1", {secret_a}, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
      {"rotation",
       {secret_b, secret_a},
       "v1,78nXHjpFP0tVJQW5D0SBwmVyyW87BV/rL6MgfM/Bw44= "
       "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
      {"v1a",
       {whole_pair},
       "v1a,yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+"
       "r4iaBGxTFRrl2iBQxtDQ=="},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<WebhookSecret> secrets;
    for (const std::string_view text : row.secrets) {
      secrets.push_back(parsed(text));
    }
    std::string out = "x";

    sign_standard(out, secrets, content);

    EXPECT_EQ(out, "x" + std::string(row.signature));
  }
}

TEST(WebhookSignature, StripesLayoutTakesTheWholeTextAsItsKey) {
  std::vector<WebhookSecret> secrets;
  secrets.push_back(parsed(secret_a));
  std::string one;
  sign_stripe(one, secrets, content.timestamp, content.body);
  EXPECT_EQ(one,
            "t=1614265330,v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964");

  secrets.insert(secrets.begin(), parsed(secret_b));
  std::string two;
  sign_stripe(two, secrets, content.timestamp, content.body);
  EXPECT_EQ(two,
            "t=1614265330,v1=95d993ff26ccd698cc4b6d4f2349bddca4f491f3067821823cd5b804f3aef1b6,"
            "v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964");
}

TEST(WebhookSignature, ASignatureMatchesItsSecretAndContentOnly) {
  const WebhookSecret a = parsed(secret_a);
  const WebhookSecret b = parsed(secret_b);
  const std::string_view v1 = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  SignedContent later = content;
  later.timestamp = "1614265331";

  EXPECT_TRUE(matches_v1(a, content, v1));
  EXPECT_FALSE(matches_v1(b, content, v1));
  EXPECT_FALSE(matches_v1(a, later, v1));
  EXPECT_FALSE(matches_v1(a, content, v1.substr(0, 40)));
  EXPECT_FALSE(matches_v1(a, content, ""));

  const std::string_view v1a =
      "yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+r4iaBGxTFRrl2iBQxtDQ==";
  EXPECT_TRUE(matches_v1a(parsed(public_half), content, v1a));
  EXPECT_TRUE(matches_v1a(parsed(whole_pair), content, v1a));
  EXPECT_FALSE(matches_v1a(parsed(public_half), later, v1a));
  EXPECT_FALSE(matches_v1a(parsed(public_half), content, v1));
}

TEST(WebhookSignature, ReadsEveryFormOfASecret) {
  EXPECT_EQ(parsed(secret_a).key.reveal().size(), 24U);
  EXPECT_EQ(parsed("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").text.reveal(), secret_a);
  // With and without the padding, as it was given.
  const std::string bytes(25, 'k');
  const std::string padded = "whsec_" + base64(bytes);
  EXPECT_EQ(parsed(padded).key.reveal(), bytes);
  EXPECT_EQ(parsed(padded.substr(0, padded.find('='))).key.reveal(), bytes);
  EXPECT_EQ(parsed(padded.substr(0, padded.find('='))).text.reveal(),
            padded.substr(0, padded.find('=')));

  const WebhookSecret pair = parsed(whole_pair);
  EXPECT_EQ(pair.kind, WebhookSecret::Kind::signing);
  EXPECT_EQ(public_key_text(pair), public_half);
  const WebhookSecret seed = parsed("whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  EXPECT_EQ(public_key_text(seed), public_half);
  const WebhookSecret half = parsed(public_half);
  EXPECT_EQ(half.kind, WebhookSecret::Kind::verifying);
  EXPECT_EQ(public_key_text(half), public_half);
}

TEST(WebhookSignature, RefusesWhatIsNoSecretAndSaysWhy) {
  struct Row {
    std::string text;
    std::string_view says;
  };
  std::string other_half(whole_pair);
  other_half[60] = other_half[60] == 'A' ? 'B' : 'A';
  const Row rows[] = {
      {"", "24 to 75 bytes"},
      {"whsec_", "24 to 75 bytes"},
      {"whsec_not base64!", "base64"},
      {"whsec_" + base64(std::string(23, 'k')), "24 to 75 bytes; this one has 23"},
      {"whsec_" + base64(std::string(76, 'k')), "24 to 75 bytes; this one has 76"},
      {"whsk_AAEC", "32 bytes, or 64"},
      {other_half, "does not belong"},
      {"whpk_AAEC", "32 bytes"},
      {"whpk_????", "32 bytes"},
      {"wrong_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto secret = parse_secret(row.text);
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(secret.error().message.find(row.says), std::string::npos) << secret.error().message;
  }
}

TEST(WebhookSignature, AMadeSecretIsOneThatCanBeRead) {
  const WebhookSecret made = make_secret();
  const WebhookSecret other = make_secret();

  EXPECT_EQ(made.text.reveal().size(), 6U + 32U);
  EXPECT_EQ(parsed(made.text.reveal()).key.reveal(), made.key.reveal());
  EXPECT_NE(made.text.reveal(), other.text.reveal());
}

TEST(Hmac, KnowsTheVectorsOfRfc2202And4231) {
  const std::string key(20, '\x0b');
  const std::string_view parts[] = {"Hi ", "There"};
  EXPECT_EQ(hex(hmac(Hash::sha1, key, parts)), "b617318655057264e28bc0b6fb378c8ef146be00");
  EXPECT_EQ(hex(hmac(Hash::sha256, key, parts)),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac(Hash::sha512, key, parts)),
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
            "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");
  const std::string long_key(131, '\xaa');
  const std::string_view hashed[] = {"Test Using Larger Than Block-Size Key - Hash Key First"};
  EXPECT_EQ(hex(hmac(Hash::sha512, long_key, hashed)),
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
            "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598");
}

}  // namespace HK_TEST_FILE
}  // namespace
}  // namespace hk::security
