/// /api/v1/idempotency: keys by which handlers let their own work take effect once. Called on I/O
/// threads through the route table.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::idempotency {

Write claim(const Services& services, Call& call);
/// The answer to a claim of a key that has ended, as it is now.
http::Response show_ended(const Services& services, core::TenantId tenant,
                          std::string_view reference);
Write renew(const Services& services, Call& call);
Write complete(const Services& services, Call& call);
Write fail_key(const Services& services, Call& call);
void get_key(const Services& services, Call& call);
Write delete_key(const Services& services, Call& call);

}  // namespace hk::api::idempotency
