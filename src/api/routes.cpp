#include <array>

#include "api/admin/handlers.h"
#include "api/jobs/handlers.h"
#include "api/openapi.h"
#include "api/qstash/handlers.h"
#include "api/route.h"
#include "api/sns/actions.h"

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
    Route{"POST",   "/v2/batch",                            tenant, qst, qstash::publish_batch},
    Route{"GET",    "/v2/topics",                           tenant, qst, qstash::list_url_groups},
    Route{"GET",    "/v2/topics/{name}",                    tenant, qst, qstash::get_url_group},
    Route{"DELETE", "/v2/topics/{name}",                    tenant, qst, qstash::delete_url_group},
    Route{"PATCH",  "/v2/topics/{name}",                    tenant, qst, qstash::set_url_group_options},
    Route{"POST",   "/v2/topics/{name}/endpoints",          tenant, qst, qstash::add_endpoints},
    Route{"DELETE", "/v2/topics/{name}/endpoints",          tenant, qst, qstash::remove_endpoints},
    Route{"GET",    "/v2/messages/{messageId}",             tenant, qst, qstash::get_message},
    Route{"DELETE", "/v2/messages/{messageId}",             tenant, qst, qstash::cancel_message},
    Route{"DELETE", "/v2/messages",                         tenant, qst, qstash::cancel_messages},
    Route{"GET",    "/v2/dlq",                              tenant, qst, qstash::list_dead_letters},
    Route{"DELETE", "/v2/dlq",                              tenant, qst, qstash::delete_dead_letters},
    Route{"POST",   "/v2/dlq/retry",                        tenant, qst, qstash::retry_dead_letters},
    Route{"POST",   "/v2/dlq/retry/{dlqId}",                tenant, qst, qstash::retry_dead_letter},
    Route{"GET",    "/v2/dlq/{dlqId}",                      tenant, qst, qstash::get_dead_letter},
    Route{"DELETE", "/v2/dlq/{dlqId}",                      tenant, qst, qstash::delete_dead_letter},
    Route{"GET",    "/v2/events",                           tenant, qst, qstash::list_events},
    Route{"GET",    "/v2/logs",                             tenant, qst, qstash::list_logs},
    Route{"POST",   "/v2/queues",                           tenant, qst, qstash::upsert_queue},
    Route{"GET",    "/v2/queues",                           tenant, qst, qstash::list_queues},
    Route{"GET",    "/v2/queues/{name}",                    tenant, qst, qstash::get_queue},
    Route{"DELETE", "/v2/queues/{name}",                    tenant, qst, qstash::delete_queue},
    Route{"POST",   "/v2/queues/{name}/pause",              tenant, qst, qstash::pause_queue},
    Route{"POST",   "/v2/queues/{name}/resume",             tenant, qst, qstash::resume_queue},
    Route{"GET",    "/v2/flowControl",                      tenant, qst, qstash::list_flow_keys},
    Route{"GET",    "/v2/flowControl/{key...}",             tenant, qst, qstash::get_flow_key},
    Route{"POST",   "/v2/flowControl/{key...}",             tenant, qst, qstash::change_flow_key},
    Route{"GET",    "/v2/globalParallelism",                tenant, qst, qstash::get_global_parallelism},
    Route{"GET",    "/v2/schedules",                        tenant, qst, qstash::list_schedules},
    Route{"GET",    "/v2/schedules/{scheduleId}",           tenant, qst, qstash::get_schedule},
    Route{"DELETE", "/v2/schedules/{scheduleId}",           tenant, qst, qstash::delete_schedule},
    Route{"PATCH",  "/v2/schedules/{scheduleId}/pause",     tenant, qst, qstash::pause_schedule},
    Route{"PATCH",  "/v2/schedules/{scheduleId}/resume",    tenant, qst, qstash::resume_schedule},
    Route{"POST",   "/v2/schedules/{scheduleId}/pause",     tenant, qst, qstash::pause_schedule},
    Route{"POST",   "/v2/schedules/{scheduleId}/resume",    tenant, qst, qstash::resume_schedule},
    Route{"POST",   "/v2/schedules/{destination...}",       tenant, qst, qstash::create_schedule},
    Route{"GET",    "/v2/keys",                             tenant, qst, qstash::get_keys},
    Route{"POST",   "/v2/keys/rotate",                      tenant, qst, qstash::rotate_keys},
    Route{"GET",    "/api/v1/jobs/{id}",                    tenant, own, jobs::get_job},
    Route{"GET",    "/api/v1/queues/{name}/halted",         tenant, own, jobs::list_halted},
    Route{"POST",   "/api/v1/queues/{name}/halted",         tenant, own, jobs::resolve_halted},
    Route{"POST",   "/api/v1/admin/backup",                 Access::admin, own, admin::backup},
    Route{"GET",    "/api/v1/tenants",                      Access::admin, own, admin::list_tenants},
    Route{"POST",   "/api/v1/tenants",                      Access::admin, own, admin::create_tenant},
    Route{"POST",   "/api/v1/tenants/{id}/rotate-token",    Access::admin, own, admin::rotate_token},
    Route{"GET",    "/api/v1/tenants/{id}/access-keys",     Access::admin, own, admin::list_access_keys},
    Route{"POST",   "/api/v1/tenants/{id}/access-keys",     Access::admin, own, admin::create_access_key},
    Route{"DELETE", "/api/v1/tenants/{id}/access-keys/{key...}", Access::admin, own, admin::revoke_access_key},
    Route{"GET",    "/sns/certificate.pem",                 Access::open, own, sns::get_certificate},
    Route{"GET",    "/api/openapi.json",                    Access::metrics, own, get_openapi},
    Route{"GET",    "/metrics",                             Access::metrics, own, admin::metrics},
    Route{"GET",    "/healthz",                             Access::open, own, admin::healthz},
    Route{"GET",    "/readyz",                              Access::open, own, admin::readyz},
};
// clang-format on

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace hk::api
