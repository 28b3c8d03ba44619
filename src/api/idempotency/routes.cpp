// Idempotency keys of the own API.
#include <array>

#include "api/idempotency/handlers.h"
#include "api/route.h"

namespace hk::api::idempotency {

namespace {

// clang-format off
constexpr std::array key_routes = {
    Route{"POST", "/api/v1/idempotency/claim", Access::tenant, claim,
          {.tag = "idempotency", .summary = "Claim a key: the first claimer does the work, later ones get its outcome",
           .request = "ClaimKey", .status = 201, .response = "KeyClaimed"}, api::Body::message, {.show = show_ended}},
    Route{"POST", "/api/v1/idempotency/renew", Access::tenant, renew,
          {.tag = "idempotency", .summary = "Extend the lease of a claim", .request = "RenewKey",
           .response = "KeyRenewed"}},
    Route{"POST", "/api/v1/idempotency/complete", Access::tenant, complete,
          {.tag = "idempotency", .summary = "Store the outcome of the work", .request = "CompleteKey",
           .response = "KeyEnded"}},
    Route{"POST", "/api/v1/idempotency/fail", Access::tenant, fail_key,
          {.tag = "idempotency", .summary = "Store a final error, or release the key for another try",
           .request = "FailKey", .response = "KeyEnded"}},
    Route{"GET", "/api/v1/idempotency", Access::tenant_or_admin, get_key,
          {.tag = "idempotency", .summary = "Show a key", .query = "key namespace", .response = "IdempotencyKey"}},
    Route{"DELETE", "/api/v1/idempotency", Access::admin_for_tenant, delete_key,
          {.tag = "idempotency", .summary = "Forget a key of the tenant that the header Hikyaku-Tenant names",
           .query = "key namespace", .response = "KeyDeleted"}},
};
// clang-format on
static_assert(writes_take_keys(key_routes));

}  // namespace

RouteTable routes() { return {Surface::own, key_routes}; }

}  // namespace hk::api::idempotency
