/// The one parser of URLs: what it accepts of a destination at publish time is what the egress
/// guard judges and what the request is sent to, so that no two readings of one text can differ.
/// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hk::net {

constexpr std::size_t url_bytes_max = 8192;

enum class Scheme : std::uint8_t { http, https };
enum class HostKind : std::uint8_t { name, ipv4, ipv6 };

struct Url {
  Scheme scheme = Scheme::https;
  HostKind kind = HostKind::name;
  std::string host{};  ///< lower case, no trailing dot, no brackets; IPv6 in its shortest form
  std::uint16_t port = 0;
  std::string target{};  ///< path and query exactly as written; a leading "/" is added when absent

  /// "scheme://host:port": which destination this is (core::Message::host).
  [[nodiscard]] std::string authority_key() const;
  /// The value of the Host field: the port only when it is not the scheme's own.
  [[nodiscard]] std::string host_header() const;
  friend bool operator==(const Url&, const Url&) = default;
};

/// invalid_argument, with a text that says no more than what is wrong with it: anything but an
/// absolute http or https URL without user name, fragment, control or non-ASCII bytes, whose host
/// is a DNS name, a canonical dotted-quad IPv4 address or a bracketed IPv6 address. Nothing is
/// decoded, repaired or resolved.
Result<Url> parse_url(std::string_view text);

}  // namespace hk::net
