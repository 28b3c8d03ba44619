/// Commands about tasks, and their replies. The tasks of a tenant are rows that everybody can read.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/task/record.h"

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

/// Cancels what the filter selects of the messages that are there now. Those that end by themselves
/// first are left out. quota_reached: too many of them are running.
/// invalid_argument: the filter is too large.
struct StartCancelTask {
  TenantId tenant{};
  CancelMessages what{};
};

using TaskCommand = std::variant<StartMoveTask, CancelMoveTask, ListMoveTasks, StartCancelTask>;

// ---- replies ----

struct TaskStarted {
  std::uint64_t number = 0;
};

struct MoveTaskCanceled {
  std::uint64_t moved = 0;
};

/// Newest first: the running one, and the last ones that ended.
struct MoveTasksListed {
  std::vector<Task> tasks{};
};

using TaskReply = std::variant<TaskStarted, MoveTaskCanceled, MoveTasksListed>;

}  // namespace hk::core
