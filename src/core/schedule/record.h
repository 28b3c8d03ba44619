/// Schedules as they are stored.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/flow/record.h"
#include "core/message.h"

namespace hk::core {

/// What a schedule publishes and when. Replaced as a whole; what changes at each run is its
/// ScheduleState.
struct Schedule {
  TenantId tenant{};
  std::string id{};
  std::string cron{};             ///< as given, with its CRON_TZ= prefix
  Message prototype{};            ///< id, created_at and not_before are set at each run
  Millis delay{};                 ///< of each message, from its run
  std::optional<FlowKey> flow{};  ///< settings of its flow key, as in Publish
  Moment created_at{};
  friend bool operator==(const Schedule&, const Schedule&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Schedule& schedule) {
  return {schedule.tenant, schedule.id};
}
struct ScheduleState {
  bool paused = false;
  Moment next_at{never};                   ///< the next run; never: the cron text has no later one
  Moment last_at{};                        ///< 0: has not run yet
  std::vector<MessageId> last_messages{};  ///< of the last run, at most a few
  std::string error{};                     ///< why the last run made no message; "" = it did
  friend bool operator==(const ScheduleState&, const ScheduleState&) = default;
};
/// A schedule's place in the order of runs.
struct ScheduleDue {
  Moment at{};
  TenantId tenant{};
  std::string id{};
  friend auto operator<=>(const ScheduleDue&, const ScheduleDue&) = default;
};
inline std::tuple<const Moment&, const TenantId&, const std::string&> key_of(
    const ScheduleDue& due) {
  return {due.at, due.tenant, due.id};
}

}  // namespace hk::core
