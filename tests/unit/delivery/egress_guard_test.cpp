#include "delivery/egress_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "delivery/destination.h"

namespace hk::delivery {
namespace HK_TEST_FILE {

struct Row {
  const char* text;
  Verdict closed;  ///< under the default policy
  Verdict opened;  ///< with loopback and private networks allowed
};

constexpr Verdict ok = Verdict::allowed;
constexpr Verdict loop = Verdict::loopback;
constexpr Verdict priv = Verdict::private_network;
constexpr Verdict res = Verdict::reserved;
constexpr Verdict meta = Verdict::metadata;

const Row rows[] = {
    // public IPv4, and the neighbours of every denied range
    {"1.0.0.0", ok, ok},
    {"1.1.1.1", ok, ok},
    {"8.8.8.8", ok, ok},
    {"9.255.255.255", ok, ok},
    {"11.0.0.0", ok, ok},
    {"100.63.255.255", ok, ok},
    {"100.128.0.0", ok, ok},
    {"126.255.255.255", ok, ok},
    {"128.0.0.0", ok, ok},
    {"168.63.129.15", ok, ok},
    {"168.63.129.17", ok, ok},
    {"169.253.255.255", ok, ok},
    {"169.255.0.0", ok, ok},
    {"172.15.255.255", ok, ok},
    {"172.32.0.0", ok, ok},
    {"191.255.255.255", ok, ok},
    {"192.0.1.0", ok, ok},
    {"192.0.3.0", ok, ok},
    {"192.88.98.255", ok, ok},
    {"192.88.100.0", ok, ok},
    {"192.167.255.255", ok, ok},
    {"192.169.0.0", ok, ok},
    {"198.17.255.255", ok, ok},
    {"198.20.0.0", ok, ok},
    {"198.51.99.255", ok, ok},
    {"198.51.101.0", ok, ok},
    {"203.0.112.255", ok, ok},
    {"203.0.114.0", ok, ok},
    {"223.255.255.255", ok, ok},
    // denied IPv4, first and last of each range
    {"0.0.0.0", res, res},
    {"0.0.0.1", res, res},
    {"0.255.255.255", res, res},
    {"10.0.0.0", priv, ok},
    {"10.1.2.3", priv, ok},
    {"10.255.255.255", priv, ok},
    {"100.64.0.0", priv, ok},
    {"100.127.255.255", priv, ok},
    {"127.0.0.0", loop, ok},
    {"127.0.0.1", loop, ok},
    {"127.0.0.53", loop, ok},
    {"127.255.255.255", loop, ok},
    {"169.254.0.0", res, res},
    {"169.254.1.1", res, res},
    {"169.254.255.255", res, res},
    {"172.16.0.0", priv, ok},
    {"172.17.0.1", priv, ok},
    {"172.31.255.255", priv, ok},
    {"192.0.0.0", res, res},
    {"192.0.0.255", res, res},
    {"192.0.2.0", res, res},
    {"192.0.2.255", res, res},
    {"192.88.99.0", res, res},
    {"192.88.99.255", res, res},
    {"192.168.0.0", priv, ok},
    {"192.168.1.1", priv, ok},
    {"192.168.255.255", priv, ok},
    {"198.18.0.0", res, res},
    {"198.19.255.255", res, res},
    {"198.51.100.0", res, res},
    {"198.51.100.255", res, res},
    {"203.0.113.0", res, res},
    {"203.0.113.255", res, res},
    {"224.0.0.0", res, res},
    {"224.0.0.1", res, res},
    {"239.255.255.255", res, res},
    {"240.0.0.0", res, res},
    {"254.1.2.3", res, res},
    {"255.255.255.255", res, res},
    // metadata and control, whatever the operator opened
    {"169.254.169.254", meta, meta},
    {"169.254.170.2", meta, meta},
    {"169.254.170.23", meta, meta},
    {"100.100.100.200", meta, meta},
    {"168.63.129.16", meta, meta},
    {"192.0.0.192", meta, meta},
    {"fd00:ec2::254", meta, meta},
    {"fd00:ec2::23", meta, meta},
    {"fd20:ce::254", meta, meta},
    // public IPv6
    {"2000::", ok, ok},
    {"2000::1", ok, ok},
    {"2001:200::", ok, ok},
    {"2001:4860:4860::8888", ok, ok},
    {"2606:4700:4700::1111", ok, ok},
    {"2a00:1450::1", ok, ok},
    {"2001:db7:ffff::1", ok, ok},
    {"2001:db9::", ok, ok},
    {"2003::", ok, ok},
    {"3ffe::", ok, ok},
    {"3fff:1000::", ok, ok},
    {"3fff:ffff::", ok, ok},
    // IPv6 outside of the allow-list
    {"::", res, res},
    {"::1", loop, ok},
    {"::2", res, res},
    {"0:0:0:1::", res, res},
    {"100::1", res, res},
    {"1fff:ffff::", res, res},
    {"4000::", res, res},
    {"5f00::1", res, res},
    {"8000::1", res, res},
    {"fbff::1", res, res},
    {"fc00::", priv, ok},
    {"fc00::1", priv, ok},
    {"fd00::1", priv, ok},
    {"fd12:3456:789a::1", priv, ok},
    {"fdff:ffff::1", priv, ok},
    {"fe00::1", res, res},
    {"fe80::1", res, res},
    {"febf::1", res, res},
    {"fec0::1", res, res},
    {"feff::1", res, res},
    {"ff02::1", res, res},
    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", res, res},
    {"2001::", res, res},
    {"2001:1::1", res, res},
    {"2001:10::1", res, res},
    {"2001:20::1", res, res},
    {"2001:1ff:ffff::", res, res},
    {"2001:db8::", res, res},
    {"2001:db8:ffff::1", res, res},
    {"3fff::", res, res},
    {"3fff:fff::1", res, res},
    // IPv4 in a wrapper: the inside is named, and the wrapper itself is not public space
    {"::ffff:127.0.0.1", loop, res},
    {"::ffff:10.0.0.1", priv, res},
    {"::ffff:192.168.0.1", priv, res},
    {"::ffff:169.254.169.254", meta, meta},
    {"::ffff:168.63.129.16", meta, meta},
    {"::ffff:8.8.8.8", res, res},
    {"::ffff:0.0.0.0", res, res},
    {"::127.0.0.1", loop, res},
    {"::10.0.0.1", priv, res},
    {"::169.254.169.254", meta, meta},
    {"::8.8.8.8", res, res},
    {"::ffff:0:127.0.0.1", loop, res},
    {"::ffff:0:169.254.169.254", meta, meta},
    {"64:ff9b::127.0.0.1", loop, res},
    {"64:ff9b::10.0.0.1", priv, res},
    {"64:ff9b::169.254.169.254", meta, meta},
    {"64:ff9b::8.8.8.8", res, res},
    {"64:ff9b:1::127.0.0.1", loop, res},
    {"64:ff9b:1::169.254.169.254", meta, meta},
    {"64:ff9b:1:abcd::8.8.8.8", res, res},
    {"2002:7f00:1::", loop, res},
    {"2002:a00:1::1", priv, res},
    {"2002:a9fe:a9fe::", meta, meta},
    {"2002:c0a8:101::1", priv, res},
    {"2002:808:808::1", res, res},
    {"2001:0:7f00:1::", loop, res},
    {"2001:0:a9fe:a9fe::", meta, meta},
    {"2001:0:808:808:0:0:80ff:fffe", loop, res},   // client 127.0.0.1, inverted
    {"2001:0:808:808:0:0:f5ff:fffe", priv, res},   // client 10.0.0.1
    {"2001:0:808:808:0:0:5601:5601", meta, meta},  // client 169.254.169.254
    {"2001:0:808:808:0:0:f7f7:f7f7", res, res},    // both ends public: still a tunnel
};

TEST(EgressGuard, JudgesEveryKindOfAddress) {
  const EgressPolicy closed;
  EgressPolicy opened;
  opened.allow_loopback = true;
  opened.allow_private = true;
  EXPECT_GE(std::size(rows), 120U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto address = parse_address(row.text);
    ASSERT_TRUE(address.has_value());

    EXPECT_EQ(judge(*address, closed), row.closed);
    EXPECT_EQ(judge(*address, opened), row.opened);
  }
}

TEST(EgressGuard, MetadataIsOpenedByItsOwnSwitchOnly) {
  EgressPolicy policy;
  policy.dangerous_allow_metadata = true;

  EXPECT_EQ(judge(*parse_address("169.254.169.254"), policy), ok);
  EXPECT_EQ(judge(*parse_address("169.254.169.253"), policy), res);
  EXPECT_EQ(judge(*parse_address("fd00:ec2::254"), policy), ok);
}

TEST(EgressGuard, LoopbackAndPrivateNetworksAreSeparateSwitches) {
  EgressPolicy loopback;
  loopback.allow_loopback = true;
  EgressPolicy networks;
  networks.allow_private = true;

  EXPECT_EQ(judge(*parse_address("127.0.0.1"), loopback), ok);
  EXPECT_EQ(judge(*parse_address("10.0.0.1"), loopback), priv);
  EXPECT_EQ(judge(*parse_address("127.0.0.1"), networks), loop);
  EXPECT_EQ(judge(*parse_address("fd00::1"), networks), ok);
}

TEST(EgressGuard, JudgesPorts) {
  struct PortRow {
    const char* address;
    std::uint16_t port;
    bool allowed;
  };
  const PortRow ports[] = {
      {"8.8.8.8", 80, true},     {"8.8.8.8", 443, true},    {"8.8.8.8", 8080, true},
      {"8.8.8.8", 8443, true},   {"8.8.8.8", 1024, true},   {"8.8.8.8", 3000, true},
      {"8.8.8.8", 65535, true},  {"8.8.8.8", 0, false},     {"8.8.8.8", 1, false},
      {"8.8.8.8", 22, false},    {"8.8.8.8", 25, false},    {"8.8.8.8", 53, false},
      {"8.8.8.8", 465, false},   {"8.8.8.8", 587, false},   {"8.8.8.8", 1023, false},
      {"8.8.8.8", 2375, false},  {"8.8.8.8", 2379, false},  {"8.8.8.8", 3306, false},
      {"8.8.8.8", 5432, false},  {"8.8.8.8", 5672, false},  {"8.8.8.8", 6379, false},
      {"8.8.8.8", 6443, false},  {"8.8.8.8", 9200, false},  {"8.8.8.8", 10250, false},
      {"8.8.8.8", 11211, false}, {"8.8.8.8", 27017, false}, {"8.8.8.8", 9092, false},
      {"10.0.0.1", 5432, false}, {"10.0.0.1", 8080, true},  {"127.0.0.1", 6379, true},
      {"127.0.0.1", 22, true},   {"::1", 1, true},          {"127.0.0.1", 9999, false},
      {"10.0.0.1", 9999, false}, {"8.8.8.8", 9999, true},   {"8.8.8.8", 26, true},
  };
  EgressPolicy policy;
  policy.allow_loopback = true;
  policy.allow_private = true;
  policy.extra_ports = {26};
  policy.own_ports = {9999};
  for (const PortRow& row : ports) {
    SCOPED_TRACE(std::string(row.address) + " " + std::to_string(row.port));
    EXPECT_EQ(judge_port(*parse_address(row.address), row.port, policy) == ok, row.allowed);
  }
}

TEST(EgressGuard, OneForbiddenAnswerCondemnsThemAll) {
  const Address good = *parse_address("8.8.8.8");
  const Address bad = *parse_address("10.0.0.1");
  const EgressPolicy policy;

  EXPECT_EQ(judge_all(std::vector{good}, 443, policy), ok);
  EXPECT_EQ(judge_all(std::vector{good, bad}, 443, policy), priv);
  EXPECT_EQ(judge_all(std::vector{bad, good}, 443, policy), priv);
  EXPECT_EQ(judge_all(std::vector{good}, 25, policy), Verdict::port);
  EXPECT_EQ(judge_all(std::vector<Address>{}, 443, policy), res);
}

TEST(Address, OnlyCanonicalTextIsAnAddress) {
  for (const char* bad :
       {"", "127.1", "0x7f.0.0.1", "127.0.0.1 ", "[::1]", "::1%lo", "a", "1.2.3.4.5"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(parse_address(bad).has_value());
  }
  EXPECT_EQ(to_text(*parse_address("192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(to_text(*parse_address("2001:0DB8::0001")), "2001:db8::1");
  EXPECT_EQ(*parse_address("127.0.0.1"), Address::v4(127, 0, 0, 1));
}

TEST(EgressGuard, TellsAPublisherWhatItCanSeeWithoutResolving) {
  const EgressPolicy closed;
  const EgressPolicy opened{.allow_loopback = true, .allow_private = true};
  struct Literal {
    const char* url;
    bool closed;
    bool opened;
  };
  for (const Literal& row :
       {Literal{"http://localhost/", true, true},  // a name: when it connects
        Literal{"https://example.com/", true, true}, Literal{"https://8.8.8.8/", true, true},
        Literal{"http://10.0.0.1/", false, true}, Literal{"http://[::1]:8080/", false, true},
        Literal{"http://[::ffff:10.0.0.1]/", false, false},
        Literal{"http://169.254.169.254/", false, false},
        Literal{"http://0.0.0.0/", false, false}}) {
    SCOPED_TRACE(row.url);
    const auto url = parse_destination(row.url);
    ASSERT_TRUE(url.has_value());
    EXPECT_EQ(check_literal(*url, closed).has_value(), row.closed);
    EXPECT_EQ(check_literal(*url, opened).has_value(), row.opened);
  }
}

TEST(EgressGuard, TellsAPublisherThatTheServerDoesNotDeliverToItself) {
  EgressPolicy policy{.allow_loopback = true, .allow_private = true};
  policy.own_ports = {8080};
  struct Own {
    const char* url;
    bool allowed;
  };
  for (const Own& row :
       {Own{"http://127.0.0.1:8080/", false}, Own{"http://127.0.0.2:8080/x", false},
        Own{"https://127.0.0.1:8080/", false}, Own{"http://[::1]:8080/", false},
        Own{"http://[0:0:0:0:0:0:0:1]:8080/", false}, Own{"http://0.0.0.0:8080/", false},
        Own{"http://[::]:8080/", false}, Own{"http://10.0.0.1:8080/", false},
        Own{"http://localhost:8080/", false}, Own{"http://LOCALHOST.:8080/", false},
        Own{"http://a.localhost:8080/", false}, Own{"http://127.0.0.1:8081/", true},
        Own{"http://localhost:8081/", true}, Own{"http://localhost/", true},
        Own{"http://8.8.8.8:8080/", true}, Own{"http://localhost.example.com:8080/", true},
        Own{"http://mylocalhost:8080/", true}}) {
    SCOPED_TRACE(row.url);
    const auto url = parse_destination(row.url);
    ASSERT_TRUE(url.has_value());

    const auto told = check_literal(*url, policy);

    EXPECT_EQ(told.has_value(), row.allowed);
  }
  EXPECT_EQ(check_literal(*parse_destination("http://localhost:8080/"), policy).error().message,
            "invalid destination url: localhost:8080 is the port of this server itself, and it "
            "does not deliver to itself");
  policy.own_ports = {80};
  EXPECT_FALSE(check_literal(*parse_destination("http://127.0.0.1/"), policy));
}

TEST(EgressGuard, TellsAPublisherWhichSchemesAndHostsAreDeliveredTo) {
  EgressPolicy policy{.allow_loopback = true};
  const auto told = [&policy](std::string_view url) {
    const auto allowed = check_literal(*parse_destination(url), policy);
    return allowed ? std::string() : allowed.error().message;
  };
  EXPECT_EQ(told("http://example.com/"), "");

  policy.allow_http = false;
  policy.hosts = *AllowedHosts::parse("hooks.example, 127.0.0.1, 10.0.0.1");

  EXPECT_EQ(told("http://hooks.example/"),
            "invalid destination url: this server delivers to https URLs only");
  EXPECT_EQ(told("https://example.com/"),
            "invalid destination url: example.com is not one of the hosts that this server "
            "delivers to");
  EXPECT_EQ(told("https://127.0.0.2/"),
            "invalid destination url: 127.0.0.2 is not one of the hosts that this server delivers "
            "to");
  EXPECT_EQ(told("https://hooks.example/"), "");
  EXPECT_EQ(told("https://127.0.0.1/"), "");
  // To be in the list opens nothing.
  EXPECT_NE(told("https://10.0.0.1/").find("private or reserved address"), std::string::npos);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
