#include <array>

#include "api/admin/handlers.h"
#include "api/jobs/handlers.h"
#include "api/qstash/handlers.h"
#include "api/route.h"

namespace hk::api {

namespace {

constexpr Access tenant = Access::tenant;
constexpr Surface qst = Surface::qstash;
constexpr Surface own = Surface::own;

// The first row that fits is taken; the busiest one stands first.
// clang-format off
constexpr std::array table = {
    Route{"POST",   "/v2/publish/{destination...}",         tenant, qst, qstash::publish},
    Route{"POST",   "/v2/enqueue/{queue}/{destination...}", tenant, qst, qstash::enqueue},
    Route{"GET",    "/v2/messages/{messageId}",             tenant, qst, qstash::get_message},
    Route{"DELETE", "/v2/messages/{messageId}",             tenant, qst, qstash::cancel_message},
    Route{"GET",    "/v2/dlq",                              tenant, qst, qstash::list_dead_letters},
    Route{"DELETE", "/v2/dlq",                              tenant, qst, qstash::delete_dead_letters},
    Route{"POST",   "/v2/dlq/retry",                        tenant, qst, qstash::retry_dead_letters},
    Route{"POST",   "/v2/dlq/retry/{dlqId}",                tenant, qst, qstash::retry_dead_letter},
    Route{"GET",    "/v2/dlq/{dlqId}",                      tenant, qst, qstash::get_dead_letter},
    Route{"DELETE", "/v2/dlq/{dlqId}",                      tenant, qst, qstash::delete_dead_letter},
    Route{"GET",    "/v2/events",                           tenant, qst, qstash::list_events},
    Route{"GET",    "/v2/logs",                             tenant, qst, qstash::list_logs},
    Route{"GET",    "/v2/keys",                             tenant, qst, qstash::get_keys},
    Route{"GET",    "/api/v1/jobs/{id}",                    tenant, own, jobs::get_job},
    Route{"POST",   "/api/v1/admin/backup",                 Access::admin, own, admin::backup},
    Route{"GET",    "/metrics",                             Access::open, own, admin::metrics},
    Route{"GET",    "/healthz",                             Access::open, own, admin::healthz},
    Route{"GET",    "/readyz",                              Access::open, own, admin::readyz},
};
// clang-format on

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace hk::api
