// One atomic request of the own API.
#include <array>

#include "api/route.h"
#include "api/transact/answer.h"
#include "api/transact/handlers.h"

namespace hk::api::transact {

namespace {

// clang-format off
constexpr std::array transact_routes = {
    Route{"POST", "/api/v1/transact", Access::tenant_or_admin, transact,
          {.tag = "transact", .summary = "End jobs, publish, end keys and move money in one commit: all of it or nothing",
           .request = "Transact", .response = "Transacted"},
          api::Body::batch, {.required = true, .show = show_again}, Rated::by_content},
};
// clang-format on
static_assert(writes_take_keys(transact_routes));

}  // namespace

RouteTable routes() { return {Surface::own, transact_routes}; }

}  // namespace hk::api::transact
