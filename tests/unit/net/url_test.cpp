#include "net/url.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hk::net {
namespace HK_TEST_FILE {

TEST(Url, ReadsEveryAcceptedSpelling) {
  struct Row {
    std::string text;
    std::string key;
    std::string target;
    std::string host_header;
    HostKind kind = HostKind::name;
  };
  const Row rows[] = {
      {"https://example.com", "https://example.com:443", "/", "example.com"},
      {"https://example.com/", "https://example.com:443", "/", "example.com"},
      {"http://example.com", "http://example.com:80", "/", "example.com"},
      {"HTTPS://EXAMPLE.com/A", "https://example.com:443", "/A", "example.com"},
      {"HtTp://a.b/c", "http://a.b:80", "/c", "a.b"},
      {"https://example.com:443/x", "https://example.com:443", "/x", "example.com"},
      {"https://example.com:80/x", "https://example.com:80", "/x", "example.com:80"},
      {"http://example.com:443", "http://example.com:443", "/", "example.com:443"},
      {"http://example.com:65535", "http://example.com:65535", "/", "example.com:65535"},
      {"http://example.com:1", "http://example.com:1", "/", "example.com:1"},
      {"http://example.com:0080/", "http://example.com:80", "/", "example.com"},
      {"https://example.com?x=1", "https://example.com:443", "/?x=1", "example.com"},
      {"https://example.com/?x=1&y=%20", "https://example.com:443", "/?x=1&y=%20", "example.com"},
      {"https://example.com/a/../b//c/./d", "https://example.com:443", "/a/../b//c/./d",
       "example.com"},
      {"https://example.com/%2e%2e/%00", "https://example.com:443", "/%2e%2e/%00", "example.com"},
      {"https://example.com/a?b?c", "https://example.com:443", "/a?b?c", "example.com"},
      {"https://example.com/a@b:c", "https://example.com:443", "/a@b:c", "example.com"},
      {"https://example.com?a@b", "https://example.com:443", "/?a@b", "example.com"},
      {"https://example.com/http://other/", "https://example.com:443", "/http://other/",
       "example.com"},
      {"https://example.com./x", "https://example.com:443", "/x", "example.com"},
      {"https://example.com.:8443/x", "https://example.com:8443", "/x", "example.com:8443"},
      {"https://localhost/x", "https://localhost:443", "/x", "localhost"},
      {"https://LOCALHOST./x", "https://localhost:443", "/x", "localhost"},
      {"https://xn--bcher-kva.example/", "https://xn--bcher-kva.example:443", "/",
       "xn--bcher-kva.example"},
      {"https://a_b.example/", "https://a_b.example:443", "/", "a_b.example"},
      {"https://1password.com/", "https://1password.com:443", "/", "1password.com"},
      {"https://127.0.0.1.example.com/", "https://127.0.0.1.example.com:443", "/",
       "127.0.0.1.example.com"},
      {"https://0x7f.example/", "https://0x7f.example:443", "/", "0x7f.example"},
      {"http://1e3/", "http://1e3:80", "/", "1e3"},  // odd, but with one reading only
      {"https://0xfg/", "https://0xfg:443", "/", "0xfg"},
      {"https://a.0xyz/", "https://a.0xyz:443", "/", "a.0xyz"},
      {"http://192.0.2.1/x", "http://192.0.2.1:80", "/x", "192.0.2.1", HostKind::ipv4},
      {"http://192.0.2.1./x", "http://192.0.2.1:80", "/x", "192.0.2.1", HostKind::ipv4},
      {"http://255.255.255.255", "http://255.255.255.255:80", "/", "255.255.255.255",
       HostKind::ipv4},
      {"http://0.0.0.0:8080", "http://0.0.0.0:8080", "/", "0.0.0.0:8080", HostKind::ipv4},
      {"http://[::1]/", "http://[::1]:80", "/", "[::1]", HostKind::ipv6},
      {"http://[::1]:8080/", "http://[::1]:8080", "/", "[::1]:8080", HostKind::ipv6},
      {"http://[0:0:0:0:0:0:0:1]/", "http://[::1]:80", "/", "[::1]", HostKind::ipv6},
      {"http://[2001:DB8::A]/", "http://[2001:db8::a]:80", "/", "[2001:db8::a]", HostKind::ipv6},
      {"http://[2001:0db8:0000::000a]/", "http://[2001:db8::a]:80", "/", "[2001:db8::a]",
       HostKind::ipv6},
      {"http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]:80", "/", "[::ffff:127.0.0.1]",
       HostKind::ipv6},
      {"https://example.com/\"<>^`{|}'", "https://example.com:443", "/\"<>^`{|}'", "example.com"},
      {"https://" + std::string(63, 'a') + ".com", "https://" + std::string(63, 'a') + ".com:443",
       "/", std::string(63, 'a') + ".com"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);

    const auto url = parse_url(row.text);

    ASSERT_TRUE(url.has_value()) << url.error().message;
    EXPECT_EQ(url->authority_key(), row.key);
    EXPECT_EQ(url->target, row.target);
    EXPECT_EQ(url->host_header(), row.host_header);
    EXPECT_EQ(url->kind, row.kind);
  }
}

TEST(Url, RefusesEverySpellingThatCouldBeReadInTwoWays) {
  const std::vector<std::string> rows = {
      "",
      " ",
      "example.com",
      "//example.com/",
      "/path",
      "ftp://example.com/",
      "file:///etc/passwd",
      "gopher://example.com/",
      "javascript:alert(1)",
      "data:text/plain,x",
      "ws://example.com/",
      "httpss://example.com",
      "http:example.com",
      "http:/example.com",
      "https:/example.com",
      "http:\\\\example.com",
      "http:///example.com",
      "http://",
      "https://",
      "http:///",
      "https://?x",
      "https://:80/",
      "https://:443",
      " https://example.com",
      "https://example.com ",
      "https://exa mple.com/",
      "https://example.com/a b",
      "https://example.com/\t",
      "https://example.com/\r\nHost: x",
      "https://example.com\r\n/",
      "https://example.com/\n",
      std::string("https://example.com/\0x", 22),
      std::string("https://exam\0ple.com/", 21),
      "https://example.com/\x7f",
      "https://example.com/\x01",
      "https://b\xc3\xbc"
      "cher.example/",
      "https://example.com/\xc3\xbc",
      "https://\xef\xbd\x85xample.com/",
      "https://example\xe3\x80\x82"
      "com/",
      "https://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa7.0.0.1/",
      // user information, in every place that has confused somebody's parser
      "https://user@example.com/",
      "https://user:pass@example.com/",
      "https://@example.com/",
      "https://:@example.com/",
      "https://example.com@127.0.0.1/",
      "https://example.com:80@127.0.0.1/",
      "https://a@b@c/",
      "https://example.com%40127.0.0.1/",
      "https://127.0.0.1%2f@example.com",
      "https://[::1]@example.com/",
      // backslashes and fragments
      "https://example.com\\@127.0.0.1/",
      "https://example.com\\.evil/",
      "https:\\\\example.com/",
      "https://example.com/a\\b",
      "https://example.com/#",
      "https://example.com#@127.0.0.1/",
      "https://example.com/a?b#c",
      "https://127.0.0.1#.example.com/",
      // IPv4 in disguise
      "http://0x7f.1/",
      "http://0x7f000001/",
      "http://0x7F.0.0.1/",
      "http://0X7f.0.0.1",
      "http://2130706433/",
      "http://127.1/",
      "http://127.0.1/",
      "http://0177.0.0.1/",
      "http://0177.0.0.01",
      "http://017700000001/",
      "http://127.0.0.01/",
      "http://00.0.0.0/",
      "http://127.0.0.0x1",
      "http://127.0.0.1.1/",
      "http://256.0.0.1/",
      "http://1.2.3.256",
      "http://999999999999/",
      "http://0/",
      "http://0./",
      "http://1.1.1.1..",
      "http://127.0.0.1..",
      "http://0x/",
      "http://0x./",
      "http://a.0x/",
      "http://example.1/",
      "http://foo.0x7f/",
      "http://foo.123/",
      "http://1.2.3/",
      "http://1.2/",
      "http://3232235521",
      "http://169.254.43518/",
      "http://0xa9fea9fe/",
      "http://0251.0376.0251.0376/",
      "http://2852039166/",
      "http://127.0.0.1%00/",
      "http://+1.2.3.4/",
      "http://1.2.3.4,/",
      // IPv6
      "http://[]/",
      "http://[",
      "http://[::1",
      "http://::1/",
      "http://[::1]x/",
      "http://[::1]8080/",
      "http://[::1]:/",
      "http://[fe80::1%eth0]/",
      "http://[fe80::1%25eth0]/",
      "http://[::1%0]/",
      "http://[1:2:3:4:5:6:7]/",
      "http://[1:2:3:4:5:6:7:8:9]/",
      "http://[::g]/",
      "http://[::1::]/",
      "http://[127.0.0.1]/",
      "http://[::127.1]/",
      "http://[::ffff:0x7f.0.0.1]/",
      "http://[example.com]/",
      "http://[[::1]]/",
      "http://[v1.x]/",
      "http://[::1 ]/",
      "http://[:::1]/",
      "http://[12345::]/",
      // ports
      "https://example.com:/",
      "https://example.com:0/",
      "https://example.com:65536/",
      "https://example.com:-1/",
      "https://example.com:+80/",
      "https://example.com:8 0/",
      "https://example.com:80a/",
      "https://example.com:0x50/",
      "https://example.com:99999999999/",
      "https://example.com:80:80/",
      "https://example.com: 80/",
      "https://example.com:http/",
      // names
      "https://.example.com/",
      "https://example..com/",
      "https://example.com../",
      "https://./",
      "https://../",
      "https://exa%6dple.com/",
      "https://example.com%00.evil/",
      "https://exam!ple/",
      "https://a,b/",
      "https://a;b/",
      "https://a&b/",
      "https://a'b/",
      "https://a*b/",
      "https://a~b/",
      "https://a|b/",
      "https://a<b/",
      "https://a\"b/",
      "https://(a)/",
      "https://a=b/",
      "https://$a/",
      "https://" + std::string(64, 'a') + ".com/",
      "https://" + std::string(254, 'a') + "/",
      "https://example.com/" + std::string(url_bytes_max, 'a'),
  };
  EXPECT_GE(rows.size(), 120U);
  for (const std::string& text : rows) {
    SCOPED_TRACE(text.substr(0, 80));

    const auto url = parse_url(text);

    ASSERT_FALSE(url.has_value()) << url->authority_key();
    EXPECT_EQ(url.error().kind, ErrorKind::invalid_argument);
    EXPECT_FALSE(url.error().message.empty());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::net
