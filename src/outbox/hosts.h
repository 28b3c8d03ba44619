/// The hosts of a connection string that names several. libpq goes on to the next one only when one
/// has failed, not when it is silent: so each is tried by itself, with its share of the time. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hk::outbox {

/// As in a connection string; "" where it says nothing.
struct Host {
  std::string host{};
  std::string address{};
  std::string port{};
  friend bool operator==(const Host&, const Host&) = default;
};

/// By the comma-separated values of `host`, `hostaddr` and `port`. One port is that of all. One
/// host: what is given, as it is.
std::vector<Host> split_hosts(std::string_view hosts, std::string_view addresses,
                              std::string_view ports);

}  // namespace hk::outbox
