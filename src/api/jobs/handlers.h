/// The job view of a message, and the groups of queues that have stopped at one. Called on I/O
/// threads through the route table.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::jobs {

void get_job(const Services& services, Call& call);
/// POST {"fence" or "receipt", …}: its holder says that it is done, or that it failed.
Write complete_job(const Services& services, Call& call);
Write fail_job(const Services& services, Call& call);

void list_halted(const Services& services, Call& call);
/// POST {"group": "…", "action": "retry" or "skip", "body": "…"}: 200 when it is done.
Write resolve_halted(const Services& services, Call& call);

}  // namespace hk::api::jobs
