#include "observe/otlp_endpoint.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hk::observe {
namespace {

bool is_port(std::string_view text) {
  unsigned number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size() && number >= 1 &&
         number <= 65535;
}

}  // namespace

Result<OtlpEndpoint> parse_otlp_endpoint(const std::string& text) {
  const auto wrong = [&text](std::string_view why) {
    return fail(ErrorKind::invalid_argument, "the trace collector's address \"" + text + "\" " +
                                                 std::string(why) +
                                                 "; it should look like http://127.0.0.1:4318");
  };
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && static_cast<unsigned char>(c) < 0x7f;
  });
  if (!plain) {
    return wrong("has white space or other characters that an address cannot have");
  }
  if (text.find_first_of("?#@") != std::string::npos) {
    return wrong("has a user, a query or a fragment, which are not supported");
  }
  OtlpEndpoint endpoint;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong("does not begin with http:// or https://");
  }

  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  const std::string_view path = rest.substr(slash);
  endpoint.authority = authority;
  endpoint.path = path.empty() || path == "/" ? "/v1/traces" : std::string(path);

  std::string_view host = authority;
  std::string_view port = endpoint.tls ? "443" : "80";
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty() || host.find_first_of("[]") != std::string_view::npos) {
    return wrong("has no host that can be read");
  }
  if (!is_port(port)) {
    return wrong("has a port that is not a number from 1 to 65535");
  }
  endpoint.host = host;
  endpoint.port = port;
  return endpoint;
}

}  // namespace hk::observe
