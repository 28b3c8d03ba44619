/// Where deliveries may go. Every resolved address is judged here before a socket is opened to it,
/// and the socket is pinned to what was judged. The default lets nothing into private space. Pure;
/// called on I/O threads for every attempt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "delivery/address.h"
#include "delivery/allowed_hosts.h"
#include "net/url.h"

namespace hk::delivery {

struct EgressPolicy {
  bool allow_loopback = false;  ///< 127.0.0.0/8 and ::1, on any port: development
  bool allow_private = false;   ///< 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
  bool allow_http = true;       ///< false: https only
  AllowedHosts hosts{};
  bool dangerous_allow_metadata = false;
  std::vector<std::uint16_t> extra_ports{};  ///< opened by the operator on top of the standing rule
  std::vector<std::uint16_t> own_ports{};  ///< our listeners: refused on loopback and private hosts
};

enum class Verdict : std::uint8_t {
  allowed,
  loopback,
  private_network,
  reserved,  ///< not a unicast address of the public Internet
  metadata,  ///< cloud metadata and control addresses: also inside opened ranges
  port,
};

/// Addresses that wrap an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are allowed only
/// if both the wrapper and what is inside are.
Verdict judge(const Address& address, const EgressPolicy& policy);

/// 80, 443, 8080, 8443 and everything from 1024 up, minus the ports of well-known internal
/// services. REQUIRES: judge(address, policy) is allowed.
Verdict judge_port(const Address& address, std::uint16_t port, const EgressPolicy& policy);

/// One forbidden answer condemns them all: a name that points inside once cannot be trusted with
/// its other answers. `reserved` when there are none.
Verdict judge_all(std::span<const Address> answers, std::uint16_t port, const EgressPolicy& policy);

/// Is the URL as it is written one that the policy allows: its scheme, and the name of its host?
/// Why not is told to whoever published it: it tells nothing about the network. Asked again at each
/// attempt, since the settings may have changed.
Result<void> check_written(const net::Url& url, const EgressPolicy& policy);

/// What can be told without resolving anything, for whoever publishes. invalid_argument: what
/// check_written() refuses, the host is an address that deliveries may not reach, or it is ours:
/// one of own_ports on an address of the inside or on localhost. The addresses of other names are
/// judged at every connection only.
Result<void> check_literal(const net::Url& url, const EgressPolicy& policy);

}  // namespace hk::delivery
