// What operators and their tools ask.
#include <array>

#include "api/admin/handlers.h"
#include "api/openapi.h"
#include "api/route.h"

namespace hk::api::admin {

namespace {

constexpr std::string_view shows_a_secret =
    "its answer has a secret, which is told once and not stored. If the answer was lost, look at "
    "the list, and ask again";

// clang-format off
constexpr std::array admin_routes = {
    Route{"POST", "/api/v1/admin/backup", Access::admin, backup,
          {.tag = "operations", .summary = "Back up the data directory", .request = "Directory",
           .response = "Directory"}, Body::message,
          {.refused = "a backup is made of what is there when it is asked for; asked again it makes another"}},
    Route{"GET", "/api/v1/tenants", Access::admin, list_tenants,
          {.tag = "operations", .summary = "List tenants", .response = "TenantPage"}},
    Route{"POST", "/api/v1/tenants", Access::admin, create_tenant,
          {.tag = "operations", .summary = "Create a tenant", .request = "NewTenant", .status = 201,
           .response = "TenantCredentials"}, Body::message, {.refused = shows_a_secret}},
    Route{"POST", "/api/v1/tenants/{id}/rotate-token", Access::admin, rotate_token,
          {.tag = "operations", .summary = "Give a tenant a new token", .response = "TenantCredentials"},
          Body::message, {.refused = shows_a_secret}},
    Route{"GET", "/api/v1/tenants/{id}/access-keys", Access::admin, list_access_keys,
          {.tag = "operations", .summary = "List the access keys of a tenant for AWS clients",
           .response = "AccessKeyPage"}},
    Route{"POST", "/api/v1/tenants/{id}/access-keys", Access::admin, create_access_key,
          {.tag = "operations", .summary = "Create an access key", .status = 201, .response = "AccessKeyMade"},
          Body::message, {.refused = shows_a_secret}},
    Route{"DELETE", "/api/v1/tenants/{id}/access-keys/{key}", Access::admin, revoke_access_key,
          {.tag = "operations", .summary = "Revoke an access key", .response = "AccessKeyRevoked"}},
    Route{"GET", "/api/openapi.json", Access::metrics, get_openapi,
          {.tag = "operations", .summary = "This document"}},
    Route{"GET", "/metrics", Access::metrics, metrics,
          {.tag = "operations", .summary = "Metrics in the text format of Prometheus"}},
    Route{"GET", "/healthz", Access::open, healthz,
          {.tag = "operations", .summary = "Is the process alive?", .response = "Health"}},
    Route{"GET", "/readyz", Access::open, readyz,
          {.tag = "operations", .summary = "Is the server ready?", .response = "Health"}},
};
// clang-format on
static_assert(writes_take_keys(admin_routes));

}  // namespace

RouteTable routes() { return {Surface::own, admin_routes}; }

}  // namespace hk::api::admin
