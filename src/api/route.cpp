#include "api/route.h"

#include "base/ascii.h"
#include "edge/http/message.h"

namespace hk::api {

namespace {

/// The segment behind the '/' that `path` begins with; `path` moves behind it.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::size_t end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace

std::optional<RouteMatch> match(std::string_view pattern, std::string_view target) {
  RouteMatch found;
  std::string_view path = target.substr(0, target.find('?'));
  const std::size_t path_end = path.size();
  while (!pattern.empty()) {
    const std::string_view expected = take_segment(pattern);
    if (expected.ends_with("...}")) {
      if (!path.empty()) {
        found.rest = target.substr(path_end - path.size() + 1);
      } else {
        found.rest = target.substr(path_end);
      }
      return found;
    }
    if (!path.starts_with('/')) {
      return std::nullopt;
    }
    const std::string_view segment = take_segment(path);
    if (expected.starts_with('{')) {
      if (segment.empty()) {
        return std::nullopt;
      }
      found.param = segment;
    } else if (!equals_ignoring_case(expected, segment)) {
      return std::nullopt;
    }
  }
  if (!path.empty() && path != "/") {
    return std::nullopt;
  }
  return found;
}

Found find_route(std::string_view method, std::string_view target) {
  Found found;
  // The edge leaves the body out of the answer to a HEAD; otherwise it is a GET (RFC 9110, 9.3.2).
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : routes()) {
    const bool right_method = route.method == wanted;
    if (!right_method && !found.allowed.empty() &&
        found.allowed.find(route.method) != std::string::npos) {
      continue;
    }
    const std::optional<RouteMatch> parts = match(route.pattern, target);
    if (!parts) {
      continue;
    }
    if (right_method) {
      found.route = &route;
      found.parts = *parts;
      return found;
    }
    if (!found.allowed.empty()) {
      found.allowed += ", ";
    }
    found.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  return found;
}

}  // namespace hk::api
