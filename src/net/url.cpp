#include "net/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace hk::net {
namespace {

constexpr std::size_t name_bytes_max = 253;
constexpr std::size_t label_bytes_max = 63;

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorKind::invalid_argument, std::move(why));
}

std::uint16_t default_port(Scheme scheme) { return scheme == Scheme::https ? 443 : 80; }

std::optional<Error> find_bad_byte(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      return refuse(
                 "non-ASCII bytes; write host names as A-labels (xn--…) and percent-encode the "
                 "rest")
          .error();
    }
    if (byte <= 0x20 || byte == 0x7f) {
      return refuse("spaces and control characters must be percent-encoded").error();
    }
    if (c == '\\') {
      return refuse("a backslash must be written as %5C").error();
    }
    if (c == '#') {
      return refuse("a #fragment is never sent to a server; remove it").error();
    }
  }
  return std::nullopt;
}

/// What inet_aton and browsers would take for an IPv4 address: the last label is a number.
bool ends_in_number(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.size() >= 2 && last[0] == '0' && last[1] == 'x') {
    return std::ranges::all_of(last.substr(2), is_hex_digit);
  }
  return !last.empty() && std::ranges::all_of(last, is_digit);
}

bool is_canonical_ipv4(std::string_view text) {
  int parts = 0;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || !std::ranges::all_of(part, is_digit) ||
        (part.size() > 1 && part[0] == '0')) {
      return false;
    }
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    if (value > 255) {
      return false;
    }
    ++parts;
    if (dot == std::string_view::npos) {
      return parts == 4;
    }
    text.remove_prefix(dot + 1);
  }
}

Result<void> read_ipv6(std::string_view inside, Url& url) {
  if (inside.find('%') != std::string_view::npos) {
    return refuse("an IPv6 address must not have a zone id");
  }
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, std::string(inside).c_str(), bytes.data()) != 1) {
    return refuse("'[" + std::string(inside) + "]' is not an IPv6 address");
  }
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  ::inet_ntop(AF_INET6, bytes.data(), canonical.data(), canonical.size());
  url.host = canonical.data();
  url.kind = HostKind::ipv6;
  return {};
}

Result<void> read_name(std::string_view text, Url& url) {
  if (text.ends_with('.')) {
    text.remove_suffix(1);
  }
  if (text.empty()) {
    return refuse("the host is empty");
  }
  if (text.size() > name_bytes_max) {
    return refuse("the host name is longer than 253 bytes");
  }
  std::string host(text.size(), '\0');
  std::ranges::transform(text, host.begin(), to_lower);

  std::size_t label = 0;
  for (const char c : host) {
    if (c == '.') {
      if (label == 0) {
        return refuse("the host name has an empty label");
      }
      label = 0;
      continue;
    }
    if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '_') {
      return refuse("a host name consists of letters, digits, '-', '_' and dots");
    }
    if (++label > label_bytes_max) {
      return refuse("a label of the host name is longer than 63 bytes");
    }
  }
  if (label == 0) {
    return refuse("the host name has an empty label");
  }

  url.kind = HostKind::name;
  if (ends_in_number(host)) {
    if (!is_canonical_ipv4(host)) {
      return refuse("an IPv4 address must be four decimal numbers from 0 to 255, as in 192.0.2.1");
    }
    url.kind = HostKind::ipv4;
  }
  url.host = std::move(host);
  return {};
}

Result<std::uint16_t> read_port(std::string_view text, Scheme scheme) {
  if (text.empty()) {
    return refuse("the port after ':' is empty; leave the colon out for port " +
                  std::to_string(default_port(scheme)));
  }
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65'535) {
    return refuse("the port must be a number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(port);
}

Result<void> read_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != std::string_view::npos) {
    return refuse("a user name or password in the URL is not accepted; forward a header instead");
  }
  if (authority.empty() || authority.front() == ':') {
    return refuse("the host is empty");
  }

  std::string_view rest;  // behind the host: "" or ":port"
  Result<void> host;
  if (authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) {
      return refuse("an IPv6 address needs a closing ']'");
    }
    rest = authority.substr(close + 1);
    host = read_ipv6(authority.substr(1, close - 1), url);
  } else {
    const std::size_t colon = authority.find(':');
    rest = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon);
    host = read_name(authority.substr(0, colon), url);
  }
  if (!host) {
    return host;
  }

  if (rest.empty()) {
    url.port = default_port(url.scheme);
    return {};
  }
  if (rest.front() != ':') {
    return refuse("only a port may follow the IPv6 address");
  }
  const auto port = read_port(rest.substr(1), url.scheme);
  if (!port) {
    return std::unexpected(port.error());
  }
  url.port = *port;
  return {};
}

std::string bracketed(const Url& url) {
  return url.kind == HostKind::ipv6 ? "[" + url.host + "]" : url.host;
}

}  // namespace

std::string Url::authority_key() const {
  return (scheme == Scheme::https ? "https://" : "http://") + bracketed(*this) + ":" +
         std::to_string(port);
}

std::string Url::host_header() const {
  return port == default_port(scheme) ? bracketed(*this)
                                      : bracketed(*this) + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > url_bytes_max) {
    return refuse("longer than " + std::to_string(url_bytes_max) + " bytes");
  }

  Url url;
  std::string_view rest = text;
  if (starts_with_ignoring_case(text, "http://")) {
    url.scheme = Scheme::http;
    rest.remove_prefix(7);
  } else if (starts_with_ignoring_case(text, "https://")) {
    url.scheme = Scheme::https;
    rest.remove_prefix(8);
  } else {
    return refuse("endpoint has invalid scheme, add http:// or https://");
  }
  if (auto bad = find_bad_byte(rest)) {
    return std::unexpected(*std::move(bad));
  }

  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  if (const auto read = read_authority(rest.substr(0, end), url); !read) {
    return std::unexpected(read.error());
  }
  rest.remove_prefix(end);
  url.target.reserve(rest.size() + 1);
  if (rest.empty() || rest.front() == '?') {
    url.target.push_back('/');
  }
  url.target.append(rest);
  return url;
}

}  // namespace hk::net
