/// An IP address as plain bytes: what a resolver answers, the egress guard judges and a socket is
/// pinned to. Pure; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hk::delivery {

struct Address {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  ///< IPv4 uses the first four; the others stay 0

  static constexpr Address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return Address{false, {a, b, c, d}};
  }
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// Canonical forms only: "192.0.2.1", "2001:db8::1" (no brackets, no zone).
std::optional<Address> parse_address(std::string_view text);
std::string to_text(const Address& address);

}  // namespace hk::delivery
