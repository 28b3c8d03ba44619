#include "security/rsa_key.h"

#include <gtest/gtest.h>

namespace hk::security {
namespace HK_TEST_FILE {

TEST(RsaKey, SignsSoThatItsCertificateVerifies) {
  const RsaKey::Made made = RsaKey::make("a.test");
  const Result<RsaKey> key = RsaKey::from_pem(made.private_pem);
  ASSERT_TRUE(key) << key.error().message;
  const std::string other = RsaKey::make("b.test").certificate_pem;

  for (const RsaHash hash : {RsaHash::sha1, RsaHash::sha256}) {
    const RsaHash wrong = hash == RsaHash::sha1 ? RsaHash::sha256 : RsaHash::sha1;
    const std::string signature = key->sign(hash, "text");
    EXPECT_EQ(signature.size(), 256U);
    EXPECT_EQ(key->sign(hash, "text"), signature);
    EXPECT_TRUE(rsa_verify(made.certificate_pem, hash, "text", signature));
    EXPECT_FALSE(rsa_verify(made.certificate_pem, hash, "text ", signature));
    EXPECT_FALSE(rsa_verify(made.certificate_pem, wrong, "text", signature));
    EXPECT_FALSE(rsa_verify(other, hash, "text", signature));
  }
  EXPECT_FALSE(rsa_verify("no certificate", RsaHash::sha256, "text", "signature"));
}

TEST(RsaKey, IsNotReadFromAnythingElse) {
  for (const char* text :
       {"", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    const Result<RsaKey> key = RsaKey::from_pem(Secret(text));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().kind, ErrorKind::corruption);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::security
