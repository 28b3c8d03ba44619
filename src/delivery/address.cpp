#include "delivery/address.h"

#include <arpa/inet.h>

namespace hk::delivery {

std::optional<Address> parse_address(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return std::nullopt;  // inet_pton would see the part before it only
  }
  const std::string terminated(text);
  Address address;
  address.v6 = text.find(':') != std::string_view::npos;
  if (::inet_pton(address.v6 ? AF_INET6 : AF_INET, terminated.c_str(), address.bytes.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::string to_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace hk::delivery
