/// POST /api/v1/transact: operations of several kinds in one commit. Called on I/O threads through
/// the route table.
#pragma once

#include "api/call.h"

namespace hk::api::transact {

void transact(const Services& services, Call& call);

}  // namespace hk::api::transact
