/// Commands about schedules, and their replies.
#pragma once

#include <string>
#include <variant>

#include "core/schedule/record.h"

namespace hk::core {

/// Creates, or replaces all of it but created_at and the pause. An empty id: the core chooses one.
struct UpsertSchedule {
  Schedule schedule{};
};

struct DeleteScheduleCommand {
  TenantId tenant{};
  std::string id{};
};

/// While paused, runs are skipped, not postponed.
struct SetSchedulePaused {
  TenantId tenant{};
  std::string id{};
  bool paused = false;
};

using ScheduleCommand = std::variant<UpsertSchedule, DeleteScheduleCommand, SetSchedulePaused>;

// ---- replies ----

struct ScheduleStored {
  std::string id{};
};

using ScheduleReply = std::variant<ScheduleStored>;

}  // namespace hk::core
