/// POST /api/v1/transact: operations of several kinds in one commit. Called on I/O threads through
/// the route table.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::transact {

Write transact(const Services& services, Call& call);

}  // namespace hk::api::transact
