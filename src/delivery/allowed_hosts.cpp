#include "delivery/allowed_hosts.h"

#include <algorithm>

#include "base/ascii.h"
#include "delivery/destination.h"

namespace hk::delivery {
namespace {

/// Read by the parser of destinations, so that an entry and a URL cannot spell one host in two
/// ways.
Result<std::string> parse_entry(std::string_view entry) {
  const bool below = entry.starts_with("*.");
  const std::string_view host = entry.substr(below ? 2 : 0);
  const auto url = parse_destination("https://" + std::string(host) + "/");
  const bool alone = url && url->target == "/" &&
                     (url->kind == net::HostKind::ipv6 ? host.ends_with(']') : !host.contains(':'));
  if (!alone || (below && url->kind != net::HostKind::name)) {
    return fail(ErrorKind::invalid_argument,
                "\"" + std::string(entry) +
                    "\" is not a host: write names such as hooks.example.com, *.example.com for "
                    "all below one, or addresses, with commas between them");
  }
  return (below ? "." : "") + url->host;
}

}  // namespace

Result<AllowedHosts> AllowedHosts::parse(std::string_view list) {
  AllowedHosts all;
  if (trim(list).empty()) {
    return all;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    Result<std::string> host = parse_entry(trim(list.substr(begin, end - begin)));
    if (!host) {
      return std::unexpected(std::move(host.error()));
    }
    all.hosts_.insert(std::move(*host));
    begin = end + 1;
  }
  return all;
}

bool AllowedHosts::contains(const net::Url& url) const {
  const std::string_view host = url.host;
  if (hosts_.empty() || hosts_.contains(host)) {
    return true;
  }
  for (std::size_t dot = host.find('.'); dot != std::string_view::npos;
       dot = host.find('.', dot + 1)) {
    if (hosts_.contains(host.substr(dot))) {
      return true;
    }
  }
  return false;
}

}  // namespace hk::delivery
