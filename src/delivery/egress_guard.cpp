#include "delivery/egress_guard.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace hk::delivery {
namespace {

struct Range {
  std::array<std::uint8_t, 16> prefix{};
  unsigned bits = 0;
  Verdict verdict = Verdict::reserved;
};

bool within(const std::uint8_t* address, const Range& range) {
  const std::size_t whole = range.bits / 8;
  if (!std::equal(range.prefix.begin(), range.prefix.begin() + static_cast<std::ptrdiff_t>(whole),
                  address)) {
    return false;
  }
  const unsigned rest = range.bits % 8;
  if (rest == 0) {
    return true;
  }
  const auto mask = static_cast<std::uint8_t>(0xffU << (8U - rest));
  return (address[whole] & mask) == (range.prefix[whole] & mask);
}

/// IANA special-purpose registry: everything that is not public unicast.
constexpr Range v4_denied[] = {
    {{0}, 8, Verdict::reserved},
    {{10}, 8, Verdict::private_network},
    {{100, 64}, 10, Verdict::private_network},
    {{127}, 8, Verdict::loopback},
    {{169, 254}, 16, Verdict::reserved},
    {{172, 16}, 12, Verdict::private_network},
    {{192, 0, 0}, 24, Verdict::reserved},
    {{192, 0, 2}, 24, Verdict::reserved},
    {{192, 88, 99}, 24, Verdict::reserved},
    {{192, 168}, 16, Verdict::private_network},
    {{198, 18}, 15, Verdict::reserved},
    {{198, 51, 100}, 24, Verdict::reserved},
    {{203, 0, 113}, 24, Verdict::reserved},
    {{224}, 4, Verdict::reserved},
    {{240}, 4, Verdict::reserved},
};

/// Metadata and host-control services of the large clouds; 168.63.129.16 looks public and is not.
constexpr Range v4_metadata[] = {
    {{169, 254, 169, 254}, 32, Verdict::metadata}, {{169, 254, 170, 2}, 32, Verdict::metadata},
    {{169, 254, 170, 23}, 32, Verdict::metadata},  {{100, 100, 100, 200}, 32, Verdict::metadata},
    {{168, 63, 129, 16}, 32, Verdict::metadata},   {{192, 0, 0, 192}, 32, Verdict::metadata},
};
constexpr Range v6_metadata[] = {
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, Verdict::metadata},
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23}, 128, Verdict::metadata},
    {{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, Verdict::metadata},
};

constexpr Range v6_global{{0x20}, 3, Verdict::allowed};
constexpr Range v6_exceptions[] = {
    {{0x20, 0x01, 0x00}, 23, Verdict::reserved},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, Verdict::reserved},
    {{0x20, 0x02}, 16, Verdict::reserved},
    {{0x3f, 0xff, 0x00}, 20, Verdict::reserved},
};
constexpr Range v6_loopback{
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, Verdict::loopback};
constexpr Range v6_private{{0xfc}, 7, Verdict::private_network};

/// Where an IPv6 range keeps an IPv4 address; Teredo keeps the client's with its bits inverted.
struct Wrapping {
  Range range{};
  std::size_t offset = 0;
  bool inverted = false;
};
constexpr Wrapping wrappings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12, false},  // mapped
    {{{}, 96}, 12, false},                                          // compatible
    {{{0, 0x64, 0xff, 0x9b}, 96}, 12, false},                       // NAT64
    {{{0, 0x64, 0xff, 0x9b, 0, 1}, 48}, 12, false},                 // NAT64, local use
    {{{0x20, 0x02}, 16}, 2, false},                                 // 6to4
    {{{0x20, 0x01, 0, 0}, 32}, 4, false},                           // Teredo server
    {{{0x20, 0x01, 0, 0}, 32}, 12, true},                           // Teredo client
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96}, 12, false},  // translated (SIIT)
};

/// Services that speak something else than HTTP or that nobody outside should reach.
constexpr std::uint16_t ports_denied[] = {
    1433,  1434,  1521,  1883,  2049,  2181,  2375,  2376,  2377,  2379,  2380,  2525,  3128,
    3260,  3306,  3389,  4194,  4222,  4369,  5432,  5433,  5671,  5672,  5900,  5984,  6000,
    6379,  6380,  6443,  6666,  6667,  7000,  7001,  7199,  8125,  8300,  8301,  8500,  8529,
    8883,  9042,  9092,  9093,  9160,  9200,  9300,  10250, 10255, 10256, 11211, 15672, 16379,
    25672, 26257, 26379, 27017, 27018, 27019, 28015, 50000, 61613, 61616,
};

Verdict apply(Verdict found, const EgressPolicy& policy) {
  const bool opened = (found == Verdict::loopback && policy.allow_loopback) ||
                      (found == Verdict::private_network && policy.allow_private) ||
                      (found == Verdict::metadata && policy.dangerous_allow_metadata);
  return opened ? Verdict::allowed : found;
}

template <std::size_t N>
std::optional<Verdict> find_in(const Range (&ranges)[N], const std::uint8_t* address) {
  for (const Range& range : ranges) {
    if (within(address, range)) {
      return range.verdict;
    }
  }
  return std::nullopt;
}

Verdict judge_v4(const std::uint8_t* address, const EgressPolicy& policy) {
  if (const auto found = find_in(v4_metadata, address)) {
    return apply(*found, policy);
  }
  return apply(find_in(v4_denied, address).value_or(Verdict::allowed), policy);
}

Verdict judge_v6(const std::uint8_t* address, const EgressPolicy& policy) {
  if (const auto found = find_in(v6_metadata, address)) {
    return apply(*found, policy);
  }
  if (within(address, v6_loopback)) {
    return apply(Verdict::loopback, policy);
  }
  for (const Wrapping& wrapping : wrappings) {
    if (!within(address, wrapping.range)) {
      continue;
    }
    std::array<std::uint8_t, 4> inner{};
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const std::uint8_t byte = address[wrapping.offset + i];
      inner[i] = wrapping.inverted ? static_cast<std::uint8_t>(~byte) : byte;
    }
    if (const Verdict inside = judge_v4(inner.data(), policy); inside != Verdict::allowed) {
      return inside;
    }
  }
  if (within(address, v6_private)) {
    return apply(Verdict::private_network, policy);
  }
  if (!within(address, v6_global)) {
    return Verdict::reserved;
  }
  return find_in(v6_exceptions, address).value_or(Verdict::allowed);
}

bool is_loopback(const Address& address) {
  return address.v6 ? within(address.bytes.data(), v6_loopback) : address.bytes[0] == 127;
}

bool is_inside(const Address& address) {  // reachable only because the policy opened it
  return is_loopback(address) || judge(address, EgressPolicy{}) != Verdict::allowed;
}

bool is_own_port(std::uint16_t port, const EgressPolicy& policy) {
  return std::ranges::find(policy.own_ports, port) != policy.own_ports.end();
}

/// RFC 6761: this machine, whatever a name server says.
bool is_localhost(const net::Url& url) {
  return url.kind == net::HostKind::name &&
         (url.host == "localhost" || url.host.ends_with(".localhost"));
}

}  // namespace

Verdict judge(const Address& address, const EgressPolicy& policy) {
  return address.v6 ? judge_v6(address.bytes.data(), policy)
                    : judge_v4(address.bytes.data(), policy);
}

Verdict judge_port(const Address& address, std::uint16_t port, const EgressPolicy& policy) {
  if (port == 0) {
    return Verdict::port;
  }
  if (is_own_port(port, policy) && is_inside(address)) {
    return Verdict::port;
  }
  if (is_loopback(address) ||
      std::ranges::find(policy.extra_ports, port) != policy.extra_ports.end()) {
    return Verdict::allowed;
  }
  const bool standard = port == 80 || port == 443;
  const bool high = port >= 1024 && std::ranges::find(ports_denied, port) == std::end(ports_denied);
  return standard || high ? Verdict::allowed : Verdict::port;
}

Verdict judge_all(std::span<const Address> answers, std::uint16_t port,
                  const EgressPolicy& policy) {
  if (answers.empty()) {
    return Verdict::reserved;
  }
  for (const Address& address : answers) {
    if (const Verdict verdict = judge(address, policy); verdict != Verdict::allowed) {
      return verdict;
    }
    if (const Verdict verdict = judge_port(address, port, policy); verdict != Verdict::allowed) {
      return verdict;
    }
  }
  return Verdict::allowed;
}

Result<void> check_written(const net::Url& url, const EgressPolicy& policy) {
  if (url.scheme == net::Scheme::http && !policy.allow_http) {
    return fail(ErrorKind::invalid_argument, "this server delivers to https URLs only");
  }
  if (!policy.hosts.contains(url)) {
    return fail(ErrorKind::invalid_argument,
                url.host + " is not one of the hosts that this server delivers to");
  }
  return {};
}

Result<void> check_literal(const net::Url& url, const EgressPolicy& policy) {
  if (const auto written = check_written(url, policy); !written) {
    return fail(written.error().kind, "invalid destination url: " + written.error().message);
  }
  const std::optional<Address> address =
      url.kind == net::HostKind::name ? std::nullopt : parse_address(url.host);
  if (address && judge(*address, policy) != Verdict::allowed) {
    return fail(ErrorKind::invalid_argument,
                "invalid destination url: " + url.host +
                    " is a loopback, private or reserved address, and deliveries to those are not "
                    "allowed on this server");
  }
  if (is_own_port(url.port, policy) && (address ? is_inside(*address) : is_localhost(url))) {
    return fail(ErrorKind::invalid_argument,
                "invalid destination url: " + url.host + ":" + std::to_string(url.port) +
                    " is the port of this server itself, and it does not deliver to itself");
  }
  return {};
}

}  // namespace hk::delivery
