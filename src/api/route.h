/// What is served: one row per method and path, in the routes.cpp of each protocol. A row has all
/// there is to say about it: who may, who answers, and the words for OpenAPI. Plain data, any
/// thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/surface.h"
#include "api/write.h"

namespace hk::api {

enum class Access : std::uint8_t {
  open,
  metrics,  ///< open unless there is a token for them
  tenant,
  tenant_or_admin,   ///< the admin's token acts for the tenant that Hikyaku-Tenant names
  admin,             ///< for the whole server
  admin_for_tenant,  ///< the admin's token alone; for the tenant that Hikyaku-Tenant names
  // The tenant, or a token of one of its applications (app_token.h):
  app,          ///< any
  app_view,     ///< that may look
  app_secret,   ///< that may see secrets
  app_rotate,   ///< that may change secrets
  app_manage,   ///< that may change endpoints
  app_attempt,  ///< that may cause deliveries
};

/// How large a body it takes.
enum class Body : std::uint8_t { message, batch };

/// Who answers. A write of the own API returns what it comes to, and once.h does the rest; all
/// others answer themselves.
struct RouteHandler {
  using Answers = void (*)(const Services&, Call&);
  using Writes = Write (*)(const Services&, Call&);

  constexpr RouteHandler(Answers function) : answers(function) {}  // NOLINT: rows name a function
  constexpr RouteHandler(Writes function) : writes(function), is_write(true) {}  // NOLINT: as above

  Answers answers = nullptr;
  Writes writes = nullptr;
  bool is_write = false;  ///< with sanitizers `writes != nullptr` is no constant
};

/// How a write of the own API takes an Idempotency-Key: all do, unless their row says why not.
struct Keys {
  bool required = false;
  std::string_view refused = {};  ///< why it takes none
  /// Makes the answer of Planned::refer's reference again.
  http::Response (*show)(const Services&, core::TenantId, std::string_view reference) = nullptr;
};

/// What a request of a tenant is charged as. Those of admins and of everybody are not limited: they
/// are how limits are changed, and how somebody sees that the server lives.
enum class Rated : std::uint8_t {
  by_method,  ///< a GET is a read, all others manage
  publish,    ///< one token a message
  receive,
  ledger,      ///< one token an item of a batch
  by_content,  ///< its handler says what it costs, once it has read it (Call::admit_late)
  never,       ///< ends work that somebody holds: to refuse it would make more work
};

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
  Keys keys = {};
  Rated rated = Rated::by_method;
};

constexpr bool takes_app_tokens(Access access) { return access >= Access::app; }

/// nullopt: it is never limited, or not before it is read.
std::optional<core::RateClass> rate_class(const Route& route);

constexpr bool is_own_write(const Route& route) {
  return route.pattern.starts_with("/api/v1/") && route.method != "GET";
}
/// An admin's call about one tenant: its keys are that tenant's.
constexpr bool names_tenant_in_path(const Route& route) {
  return route.pattern.starts_with("/api/v1/tenants/{id}");
}
/// Asserted where the rows of the own API are. Keys of the server itself have no place yet: a call
/// that is about no tenant takes none.
constexpr bool writes_take_keys(std::span<const Route> routes) {
  for (const Route& route : routes) {
    const bool of_nobody = route.access == Access::admin && !names_tenant_in_path(route);
    if (is_own_write(route) && route.keys.refused.empty() &&
        (!route.handler.is_write || of_nobody)) {
      return false;
    }
  }
  return true;
}

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
namespace ledger {
RouteTable routes();
}
namespace transact {
RouteTable routes();
}
namespace admin {
RouteTable routes();
}
namespace portal {
RouteTable routes();
}
namespace sns {
RouteTable routes();
}
namespace svix {
RouteTable routes();
}
namespace webhooks {
RouteTable routes();
}
namespace sources {
RouteTable routes();
}

/// Of every protocol.
std::span<const RouteTable> route_tables();

}  // namespace hk::api
