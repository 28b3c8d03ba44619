/// What the holder of a key says of its end, as calls of their own and as operations of a transact.
/// Pure, any thread.
#pragma once

#include <variant>

#include "api/idempotency/body.h"
#include "api/problem.h"
#include "core/idempotency/commands.h"

namespace hk::api::idempotency {

/// An outcome is kept for so long.
inline constexpr Millis ttl_min = std::chrono::minutes{1};
inline constexpr Millis ttl_max = std::chrono::hours{24 * 30};

/// Of {"key", "namespace", "token", "response", "ttl"}. What else `body` may have is the caller's
/// to say. invalid_argument; limit_exceeded: the response is too large.
Result<core::EndKey> read_completed(core::TenantId tenant, const Body& body);

/// Of {"key", "namespace", "token", "error", "final"}. The same.
using FailedKey = std::variant<core::EndKey, core::ReleaseKey>;
Result<FailedKey> read_failed(core::TenantId tenant, const Body& body);

const char* name_of(core::IdempotencyKey::State state);

/// What it is told as that a change of a key was refused. REQUIRES: it was.
struct KeyRefused {
  Problem what{};
  std::string detail{};
};
KeyRefused told_of_key(const core::KeyChanged& changed);

}  // namespace hk::api::idempotency
