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

/// Deliveries of an application are made again: those that match now, and of which nothing is
/// created later. Refused (webhook/commands.h): no such application or endpoint. invalid_argument:
/// the filter is too large; quota_reached: too many of them are running.
struct StartReplay {
  TenantId tenant{};
  std::string application_ref{};
  std::vector<std::string> endpoint_refs{};  ///< empty = all
  std::string redirect_ref{};                ///< "" = none
  /// Without the numbers of those, and as it begins.
  webhook::ReplayEvents what{};
  std::uint32_t rate = 0;  ///< deliveries in a thousand seconds; 0 = no limit
};

/// What is over stays as it is. not_found: there is no such task, or it is no replay.
struct ChangeReplay {
  enum class Change : std::uint8_t { pause, resume, cancel, rate };
  TenantId tenant{};
  std::uint64_t number = 0;
  Change change{};
  std::uint32_t rate = 0;  ///< of Change::rate, as in StartReplay
};

/// The payloads of everything that was published to the application so far go. Refused as
/// StartReplay.
struct StartExpunge {
  TenantId tenant{};
  std::string application_ref{};
};

using TaskCommand = std::variant<StartMoveTask, CancelMoveTask, ListMoveTasks, StartCancelTask,
                                 StartReplay, ChangeReplay, StartExpunge>;

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

/// As it is now.
struct TaskStored {
  Task task{};
};

using TaskReply = std::variant<TaskStarted, MoveTaskCanceled, MoveTasksListed, TaskStored>;

}  // namespace hk::core
