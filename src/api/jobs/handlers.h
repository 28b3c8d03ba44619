/// The job view of a message: GET /api/v1/jobs/{id}. Called on I/O threads through the route table.
#pragma once

#include "api/call.h"

namespace hk::api::jobs {

void get_job(const Services& services, Call& call);

}  // namespace hk::api::jobs
