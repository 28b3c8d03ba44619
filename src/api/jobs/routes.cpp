// Jobs and queues of the own API.
#include <array>

#include "api/jobs/handlers.h"
#include "api/route.h"

namespace hk::api::jobs {

namespace {

// clang-format off
constexpr std::array job_routes = {
    Route{"GET", "/api/v1/jobs/{id}", Access::tenant, get_job,
          {.tag = "messages", .summary = "Show a message as a job, with its attempts and what holds it",
           .response = "Job"}},
    Route{"POST", "/api/v1/jobs/{id}/complete", Access::tenant, complete_job,
          {.tag = "messages", .summary = "End a job as succeeded, by its fence or receipt, with a result",
           .request = "CompleteJob", .response = "JobEnded"}, api::Body::message, {}, Rated::never},
    Route{"POST", "/api/v1/jobs/{id}/fail", Access::tenant, fail_job,
          {.tag = "messages", .summary = "End an attempt as failed, by its fence or receipt: retry, or give up",
           .request = "FailJob", .response = "JobEnded"}, api::Body::message, {}, Rated::never},
    Route{"GET", "/api/v1/queues/{name}/halted", Access::tenant, list_halted,
          {.tag = "queues", .summary = "List the halted groups of a queue",
           .response = "HaltedPage"}},
    Route{"POST", "/api/v1/queues/{name}/halted", Access::tenant, resolve_halted,
          {.tag = "queues", .summary = "Retry, edit or skip the message that halted a group",
           .request = "ResolveHalted"}},
};
// clang-format on
static_assert(writes_take_keys(job_routes));

}  // namespace

RouteTable routes() { return {Surface::own, job_routes}; }

}  // namespace hk::api::jobs
