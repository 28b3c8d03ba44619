/// Commands about queues themselves, pushed or pulled from, and their replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/queue/record.h"

namespace hk::core {

struct UpsertQueue {
  TenantId tenant{};
  std::string name{};
  std::optional<std::uint32_t> parallelism{};
  std::optional<bool> paused{};
};

/// Its messages are cancelled, a few per batch; those under way end as cancelled messages do.
struct DeleteQueueCommand {
  TenantId tenant{};
  std::string name{};
};

/// Makes a queue that is pulled from. One of that name stays as it is: QueueMade says so.
struct CreatePullQueue {
  TenantId tenant{};
  std::string name{};
  PullSettings settings{};
};

/// Replaces all settings. conflict: they are not the version that was read.
struct SetPullSettings {
  TenantId tenant{};
  std::string name{};
  PullSettings settings{};  ///< with the version that was read; the core raises it
};

/// Cancels all that it holds, and forgets its dedup ids.
struct PurgeQueue {
  TenantId tenant{};
  std::string name{};
};

using QueueCommand =
    std::variant<UpsertQueue, DeleteQueueCommand, CreatePullQueue, SetPullSettings, PurgeQueue>;

// ---- replies ----

struct QueueMade {
  bool existed = false;
  Queue queue{};  ///< as it is now
};

using QueueReply = std::variant<QueueMade>;

}  // namespace hk::core
