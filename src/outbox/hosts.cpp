#include "outbox/hosts.h"

#include <algorithm>

namespace hk::outbox {
namespace {

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    list.remove_prefix(comma + 1);
  }
}

std::string part(const std::vector<std::string>& parts, std::size_t i) {
  return i < parts.size() ? parts[i] : "";
}

}  // namespace

std::vector<Host> split_hosts(std::string_view hosts, std::string_view addresses,
                              std::string_view ports) {
  const auto names = split_list(hosts);
  const auto numbers = split_list(addresses);
  const auto at = split_list(ports);
  const std::size_t count = std::max(names.size(), numbers.size());
  // Lists that do not fit together are libpq's to complain about.
  const auto fits = [&](std::string_view list, std::size_t size) {
    return list.empty() || size == count;
  };
  if (count == 1 || !fits(hosts, names.size()) || !fits(addresses, numbers.size()) ||
      (at.size() != 1 && at.size() != count)) {
    return {Host{std::string(hosts), std::string(addresses), std::string(ports)}};
  }
  std::vector<Host> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({part(names, i), part(numbers, i), at.size() == 1 ? at[0] : at[i]});
  }
  return all;
}

}  // namespace hk::outbox
