#include "delivery/headers.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::delivery {
namespace HK_TEST_FILE {

TEST(MayForward, JudgesEveryNameAndValue) {
  struct Row {
    std::string name;
    std::string value;
    bool safe = false;
  };
  const Row rows[] = {
      {"Content-Type", "application/json", true},
      {"Authorization", "Bearer abc.def", true},
      {"X-Custom", "", true},
      {"x", " leading and trailing ", true},
      {"x", "tab\there", true},
      {"!#$%&'*+-.^_`|~09azAZ", "token", true},
      {"Idempotency-Key", "mine", true},
      {"User-Agent", "mine/1.0", true},
      {"Upstash-Callback-Something", "x", true},
      {"Upstash-Topic-Name", "x", true},
      {"Hostname", "x", true},
      {"Teapot", "x", true},
      {"Proxy", "x", true},
      {"Webhook", "x", true},
      {"", "x"},
      {" X", "x"},
      {"X ", "x"},
      {"X:", "x"},
      {"X Y", "x"},
      {"X\r\nY", "x"},
      {"X\t", "x"},
      {"X(", "x"},
      {"X/", "x"},
      {"X@", "x"},
      {"X\"", "x"},
      {"X{", "x"},
      {"\xc3\xbc", "x"},
      {std::string("X\0", 2), "x"},
      {"X\x7f", "x"},
      {"X", "a\r\nHost: b"},
      {"X", "a\n"},
      {"X", "\r"},
      {"X", std::string("a\0b", 3)},
      {"X", "\x01"},
      {"X", "\x7f"},
      {"X", "\xc3\xbc", true},
      {"X", "za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87 \xe2\x98\x95 \xf0\x9f\x98\x80", true},
      {"X", "\xc2\xa0", true},
      {"X", "\xff"},
      {"X", "caf\xe9"},           // Latin-1
      {"X", "caf\xc3"},           // half a character
      {"X", "\xc0\x8a"},          // a line feed, overlong
      {"X", "\xe0\x80\x8d"},      // a carriage return, overlong
      {"X", "\xed\xa0\x80"},      // a surrogate
      {"X", "\xf4\x90\x80\x80"},  // above U+10FFFF
      {"X", "a\xc2\x85"},         // NEL, a control character
      {"X", "\xc2\x80"},
      {"X", "\xc2\x9f"},
      {"X", "\xc3\xbc\r\nY: z"},
      {"Host", "x"},
      {"hOST", "x"},
      {"Content-Length", "5"},
      {"content-length", "5"},
      {"Transfer-Encoding", "chunked"},
      {"TE", "trailers"},
      {"Trailer", "x"},
      {"Connection", "close"},
      {"Keep-Alive", "x"},
      {"Proxy-Authorization", "x"},
      {"proxy-connection", "x"},
      {"Upgrade", "h2c"},
      {"HTTP2-Settings", "x"},
      {"Expect", "100-continue"},
      {"Webhook-Id", "x"},
      {"webhook-signature", "x"},
      {"Upstash-Signature", "x"},
      {"upstash-message-id", "x"},
      {"Upstash-Retried", "0"},
      {"Upstash-Caller-Ip", "x"},
      {"Hikyaku-Fence", "x"},
      {"hikyaku-anything", "x"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name + ": " + row.value);

    const auto safe = may_forward(row.name, row.value);

    EXPECT_EQ(safe.has_value(), row.safe);
    if (!safe) {
      EXPECT_EQ(safe.error().kind, ErrorKind::invalid_argument);
    }
  }
}

TEST(MayForward, TheTextNeverRepeatsTheValue) {
  const auto refused = may_forward("Authorization", "Bearer secret\n");

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
}

TEST(SafeTarget, IsOriginFormInVisibleAscii) {
  EXPECT_TRUE(safe_target("/"));
  EXPECT_TRUE(safe_target("/a?b=%20&c"));
  for (const std::string& bad :
       {std::string(""), std::string("*"), std::string("http://x/"), std::string("/a b"),
        std::string("/\r\n"), std::string("/\x7f"), std::string("/\xff"), std::string("/#"),
        std::string("/\\"), std::string("/\0", 2)}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(safe_target(bad));
  }
}

TEST(SafeMethod, IsOneOfAShortList) {
  EXPECT_TRUE(safe_method("POST").has_value());
  for (const char* bad : {"", "post", "CONNECT", "TRACE", "POST /x", "GET\r\n"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(safe_method(bad).has_value());
  }
}

TEST(ForwardedHeaders, AreBoundedInNumberAndSize) {
  ForwardedHeaders many;
  for (std::size_t i = 0; i < forwarded_fields_max; ++i) {
    ASSERT_TRUE(many.add("X", "y").has_value());
  }
  EXPECT_EQ(many.add("X", "y").error().kind, ErrorKind::limit_exceeded);

  ForwardedHeaders large;
  ASSERT_TRUE(large.add("X", std::string(forwarded_bytes_max - 1, 'y')).has_value());
  EXPECT_EQ(large.add("X", "").error().kind, ErrorKind::limit_exceeded);

  ForwardedHeaders bad;
  EXPECT_EQ(bad.add("Host", "y").error().kind, ErrorKind::invalid_argument);
}

TEST(MaySend, TakesWhatSourcesHaveAndNothingElseOfOurs) {
  for (const std::string_view name :
       {"webhook-signature", "Webhook-Id", "Hikyaku-Source", "hikyaku-event-id",
        "Hikyaku-Event-Type", "Hikyaku-Received-At", "Hikyaku-Unverified"}) {
    EXPECT_TRUE(may_send(name, "x").has_value()) << name;
    EXPECT_FALSE(may_send(name, "x\r\ny").has_value()) << name;
    EXPECT_FALSE(may_forward(name, "x").has_value()) << name << ": no publisher can give it";
  }
  for (const std::string_view name :
       {"Hikyaku-Fence", "Hikyaku-Message-Id", "Upstash-Signature", "Host", "webhook-\r\nx"}) {
    EXPECT_FALSE(may_send(name, "x").has_value()) << name;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
