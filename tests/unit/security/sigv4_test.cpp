#include "security/sigv4.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace hk::security {
namespace HK_TEST_FILE {

const Secret secret{"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};

// The example of AWS's own documentation of the signing process.
TEST(SigV4, GivesThePublishedExample) {
  const std::string canonical =
      "GET\n/\nAction=ListUsers&Version=2010-05-08\n"
      "content-type:application/x-www-form-urlencoded; charset=utf-8\n"
      "host:iam.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
      "content-type;host;x-amz-date\n" +
      hex_sha256("");
  const std::string text =
      string_to_sign("20150830T123600Z", "20150830/us-east-1/iam/aws4_request", canonical);
  const Secret key = derive_signing_key(secret, "20150830", "us-east-1", "iam");

  EXPECT_EQ(hex_sha256(canonical),
            "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59");
  EXPECT_EQ(hex(key.reveal()), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
  EXPECT_EQ(sign_text(key, text),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(SigV4, EncodesAllButTheUnreserved) {
  std::string out;
  append_uri_encoded(out, "aZ09-._~ /+\xc3\xa4");
  out += ' ';
  append_uri_encoded(out, "/a b/", '/');
  EXPECT_EQ(out, "aZ09-._~%20%2F%2B%C3%A4 /a%20b/");
}

TEST(SigV4, WritesRunsOfBlanksOnce) {
  std::string out;
  append_canonical_value(out, "  a \t b  ");
  EXPECT_EQ(out, "a b");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::security
