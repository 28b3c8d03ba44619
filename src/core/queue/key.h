/// The name of a queue, among those of all tenants. Pure.
#pragma once

#include <string>
#include <utility>

#include "core/message.h"

namespace hk::core {

using QueueKey = std::pair<TenantId, std::string>;

}  // namespace hk::core
