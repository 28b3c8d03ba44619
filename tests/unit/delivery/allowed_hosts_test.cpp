#include "delivery/allowed_hosts.h"

#include <gtest/gtest.h>

#include "delivery/destination.h"

namespace hk::delivery {
namespace HK_TEST_FILE {

bool contains(std::string_view list, const std::string& url) {
  const auto hosts = AllowedHosts::parse(list);
  EXPECT_TRUE(hosts.has_value()) << list;
  const auto parsed = parse_destination(url);
  EXPECT_TRUE(parsed.has_value()) << url;
  return hosts && parsed && hosts->contains(*parsed);
}

TEST(AllowedHosts, NamesAreTakenAsTheyAreInAUrlAndWhatIsBelowOnlyIfItSaysSo) {
  struct Row {
    std::string_view list;
    std::string url;
    bool inside;
  };
  const Row rows[] = {
      {"", "http://anything.example/", true},
      {"  ", "http://192.0.2.1/", true},
      {"example.com", "https://example.com/x?y", true},
      {"example.com", "http://EXAMPLE.com.:8080/", true},
      {"EXAMPLE.com.", "https://example.com/", true},
      {"example.com", "https://a.example.com/", false},
      {"example.com", "https://notexample.com/", false},
      {"example.com", "https://example.com.evil.example/", false},
      {"*.example.com", "https://a.example.com/", true},
      {"*.example.com", "https://a.b.example.com/", true},
      {"*.example.com", "https://example.com/", false},
      {"*.example.com", "https://aexample.com/", false},
      {"*.example.com", "https://example.com.evil.example/", false},
      {"a.example , example.org,*.b.example", "https://example.org/", true},
      {"a.example , example.org,*.b.example", "https://a.example/", true},
      {"a.example , example.org,*.b.example", "https://x.b.example/", true},
      {"a.example , example.org,*.b.example", "https://x.a.example/", false},
      {"192.0.2.1", "http://192.0.2.1:81/", true},
      {"192.0.2.1", "http://192.0.2.2/", false},
      {"[2001:DB8:0::1]", "http://[2001:db8::1]/", true},
      {"[2001:db8::1]", "http://[2001:db8::2]/", false},
      {"localhost", "http://localhost/", true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.list) + " " + row.url);
    EXPECT_EQ(contains(row.list, row.url), row.inside);
  }
}

TEST(AllowedHosts, AnEntryThatIsNoHostIsRefusedAndNamed) {
  for (const std::string entry :
       {"*", "*.", "a*.example", "*.*.example", "https://example.com", "example.com/",
        "example.com:443", "example.com?x", "user@example.com", "a b", "exa\nmple", "*.192.0.2.1",
        "2001:db8::1", "[::1]:80", "*.[::1]", "192.0.2", "..", "b\u00fccher.example"}) {
    SCOPED_TRACE(entry);
    for (const std::string& list : {entry, "good.example," + entry, entry + ", good.example"}) {
      const auto hosts = AllowedHosts::parse(list);
      ASSERT_FALSE(hosts.has_value());
      EXPECT_EQ(hosts.error().kind, ErrorKind::invalid_argument);
      EXPECT_NE(hosts.error().message.find('"' + entry + '"'), std::string::npos)
          << hosts.error().message;
    }
  }
  EXPECT_FALSE(AllowedHosts::parse("a.example,,b.example").has_value());
  EXPECT_FALSE(AllowedHosts::parse("a.example,").has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
