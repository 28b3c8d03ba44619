/// The list of what is supported: one row per method and path. Matching works on the raw target,
/// since a destination stands in it unencoded. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/call.h"

namespace hk::api {

enum class Access : std::uint8_t {
  open,
  metrics,  ///< open unless there is a token for them
  tenant,
  admin,
};
/// Which words an error is told in before a handler is found or after it threw.
enum class Surface : std::uint8_t { qstash, own };

using RouteHandler = void (*)(const Services&, Call&);

struct Route {
  std::string_view method;
  /// Literal segments match in any case; "{name}" is one non-empty segment; "{name...}" at the end
  /// is everything that follows, query included, possibly nothing. A trailing slash changes
  /// nothing.
  std::string_view pattern;
  Access access;
  Surface surface;
  RouteHandler handler;
};

std::span<const Route> routes();

struct RouteMatch {
  std::string_view param{};  ///< raw
  std::string_view rest{};
};
std::optional<RouteMatch> match(std::string_view pattern, std::string_view target);

struct Found {
  const Route* route = nullptr;  ///< null: no row has this path and method
  RouteMatch parts{};
  std::string allowed{};  ///< methods of the rows with this path, if the method was the problem
};
Found find_route(std::string_view method, std::string_view target);

}  // namespace hk::api
