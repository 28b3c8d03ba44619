/// Where something listens.
#pragma once

#include <cstdint>
#include <string>

namespace hk::config {

struct HostPort {
  std::string host{};  ///< an IPv6 address without its brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

}  // namespace hk::config
