/// Commands about tasks that move messages from one queue into another, and their replies.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/move/record.h"

namespace hk::core {

/// Moves what is visible in `source`, oldest first, into `destination`; "": each back into the
/// queue that it came from. What is moved is new there. not_found: no such queue; conflict: a task
/// of that source is running.
struct StartMoveTask {
  TenantId tenant{};
  std::string source{};
  std::string destination{};
  std::uint32_t rate = 0;  ///< messages a second, spread evenly; 0 = as fast as it goes
};

/// What was moved stays moved. not_found: no such task is running.
struct CancelMoveTask {
  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;
};

struct ListMoveTasks {
  TenantId tenant{};
  std::string source{};
};

using MoveCommand = std::variant<StartMoveTask, CancelMoveTask, ListMoveTasks>;

// ---- replies ----

struct MoveTaskStarted {
  std::uint64_t number = 0;  ///< of the task, among those of its source
};

struct MoveTaskCanceled {
  std::uint64_t moved = 0;
};

/// Newest first: the running one, and the last ones that ended.
struct MoveTasksListed {
  std::vector<MoveTask> tasks{};
};

using MoveReply = std::variant<MoveTaskStarted, MoveTaskCanceled, MoveTasksListed>;

}  // namespace hk::core
