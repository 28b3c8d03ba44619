/// Secrets of endpoints on their way in: read, made, sealed. On I/O threads.
#pragma once

#include <optional>
#include <string>

#include "api/call.h"
#include "api/svix/input.h"
#include "core/webhook/record.h"

namespace hk::api::svix {

/// The member as it will be stored; a new one if it is absent. What is wrong is told; then it is
/// not to be used.
core::webhook::SigningSecret read_signing_secret(const Services& services, const Call& call,
                                                 Input& in, std::string_view name);
core::webhook::SigningSecret make_signing_secret(const Services& services, const Call& call);
/// What is shown of it: of ed25519 the public half.
Result<std::string> shown_secret(const Services& services, core::TenantId tenant,
                                 const core::webhook::SigningSecret& secret);

}  // namespace hk::api::svix
