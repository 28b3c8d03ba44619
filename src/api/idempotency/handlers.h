/// /api/v1/idempotency: keys by which handlers let their own work take effect once. Called on I/O
/// threads through the route table.
#pragma once

#include "api/call.h"

namespace hk::api::idempotency {

void claim(const Services& services, Call& call);
void renew(const Services& services, Call& call);
void complete(const Services& services, Call& call);
void fail_key(const Services& services, Call& call);
void get_key(const Services& services, Call& call);
void delete_key(const Services& services, Call& call);

}  // namespace hk::api::idempotency
