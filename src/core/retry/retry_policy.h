/// When a failed message is tried again.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "core/message.h"

namespace hk::core {

/// The wait before retry number `retry` (1, 2, …) of a message with this policy. The receiver's own
/// wish, if it is at most a day, decides instead of the policy.
Millis retry_delay(const RetryPolicy& policy, std::uint32_t retry, std::optional<Millis> asked_for,
                   Rng& rng);

}  // namespace hk::core
