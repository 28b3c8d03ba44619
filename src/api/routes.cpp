#include <array>

#include "api/admin/handlers.h"
#include "api/qstash/handlers.h"
#include "api/route.h"

namespace hk::api {

namespace {

// The first row that fits is taken; the busiest one stands first.
constexpr std::array table = {
    Route{"POST", "/v2/publish/{destination...}", Access::tenant, Surface::qstash, qstash::publish},
    Route{"POST", "/v2/enqueue/{queue}/{destination...}", Access::tenant, Surface::qstash,
          qstash::enqueue},
    Route{"GET", "/v2/keys", Access::tenant, Surface::qstash, qstash::get_keys},
    Route{"POST", "/api/v1/admin/backup", Access::admin, Surface::own, admin::backup},
    Route{"GET", "/metrics", Access::open, Surface::own, admin::metrics},
    Route{"GET", "/healthz", Access::open, Surface::own, admin::healthz},
    Route{"GET", "/readyz", Access::open, Surface::own, admin::readyz},
};

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace hk::api
