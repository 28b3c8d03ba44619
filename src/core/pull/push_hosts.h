/// Where queues may push to, by the settings of the server.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "core/queue/record.h"

namespace hk::core {

/// The host of the queue's push URL (as in Message), or why nothing may be pushed there. Handed to
/// the machine like its limits: it answers the same as long as the machine lives. Empty: no queue
/// pushes.
using PushHosts = std::function<Result<std::string>(const Queue& queue)>;

}  // namespace hk::core
