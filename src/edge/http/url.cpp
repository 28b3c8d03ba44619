#include <string>

#include "edge/http/client.h"
#include "edge/http/safe_header.h"
#include "edge/http/strict.h"

namespace hk::http {

Result<Url> parse_url(std::string_view url) {
  const auto bad = [url](std::string_view why) {
    return fail(ErrorKind::invalid_argument,
                "\"" + std::string(url) + "\" is not a usable URL (" + std::string(why) +
                    "); one like http://127.0.0.1:8080/path is needed");
  };
  Url out;
  const std::size_t colon = url.find("://");
  const std::string_view scheme = url.substr(0, std::min(colon, url.size()));
  if (colon == std::string_view::npos) return bad("it has no scheme");
  out.tls = equals_ignoring_case(scheme, "https");
  if (!out.tls && !equals_ignoring_case(scheme, "http"))
    return bad("only http and https are known");

  const std::string_view after = url.substr(colon + 3);
  const std::size_t end = std::min(after.find_first_of("/?#"), after.size());
  const std::string_view authority = after.substr(0, end);
  if (!valid_host(authority)) return bad("its host is malformed");
  out.authority = authority;
  const bool bracketed = authority.front() == '[';
  const std::size_t host_end = bracketed ? authority.find(']') : authority.find(':');
  out.host = bracketed ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
  const std::size_t port_at = authority.find(':', bracketed ? host_end : 0);
  out.port = port_at == std::string_view::npos ? (out.tls ? "443" : "80")
                                               : std::string(authority.substr(port_at + 1));

  const std::string_view target = after.substr(end, after.find('#') - end);
  out.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  if (!safe_target(out.target)) return bad("its path must be percent-encoded");
  return out;
}

}  // namespace hk::http
