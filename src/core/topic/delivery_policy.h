/// The attribute DeliveryPolicy: how often, and after which waits, an endpoint is tried again.
/// Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/message.h"

namespace hk::core {

/// What is done without a policy: three times more, 20 seconds apart.
RetryPolicy default_retries();

/// Of a subscription: {"healthyRetryPolicy": {…}}; of a topic: {"http":
/// {"defaultHealthyRetryPolicy": {…}}}. nullopt: it says nothing of retries. invalid_argument: not
/// JSON, or numbers out of their ranges.
Result<std::optional<RetryPolicy>> read_delivery_policy(std::string_view text, bool of_topic);

}  // namespace hk::core
