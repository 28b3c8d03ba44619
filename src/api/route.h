/// What is served: one row per method and path, in the routes.cpp of each protocol. A row has all
/// there is to say about it: who may, who answers, and the words for OpenAPI. Plain data, any
/// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/surface.h"

namespace hk::api {

enum class Access : std::uint8_t {
  open,
  metrics,  ///< open unless there is a token for them
  tenant,
  admin,
};

/// How large a body it takes.
enum class Body : std::uint8_t { message, batch };

using RouteHandler = void (*)(const Services&, Call&);

/// Names of schemas are those of openapi_schemas.cpp.
struct RouteWords {
  std::string_view tag = {};
  std::string_view summary = {};
  std::string_view query = {};     ///< parameters, separated by spaces
  std::string_view request = {};   ///< schema of the JSON body; "bytes": any body; "": none
  int status = 200;                ///< of success
  std::string_view response = {};  ///< schema of that answer; "": no schema, or not JSON
};

struct Route {
  static constexpr std::size_t params_max = 4;

  std::string_view method;
  /// Literal segments match in any case; "{name}" is one non-empty segment; "{name...}" at the end
  /// is everything that follows, query included, possibly nothing. A trailing slash changes
  /// nothing.
  std::string_view pattern;
  Access access;
  RouteHandler handler;
  RouteWords words = {};
  Body body = Body::message;
};

/// The rows of one protocol.
struct RouteTable {
  Surface surface = Surface::own;
  std::span<const Route> routes{};
};

namespace qstash {
RouteTable routes();
}
namespace jobs {
RouteTable routes();
}
namespace idempotency {
RouteTable routes();
}
namespace transact {
RouteTable routes();
}
namespace admin {
RouteTable routes();
}
namespace sns {
RouteTable routes();
}

/// Of every protocol.
std::span<const RouteTable> route_tables();

}  // namespace hk::api
