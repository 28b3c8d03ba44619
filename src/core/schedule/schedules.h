/// Schedules: they publish at the times of their cron texts. Only the next runs are in memory; the
/// store has the rest, and the batch what was decided since. A component (component.h).
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "core/command.h"
#include "core/component.h"
#include "core/schedule/zones.h"

namespace hk::core {

class Messages;
class Tenants;
class Topics;

class Schedules : Component {
 public:
  Schedules(Context& context, Zones& zones, const Tenants& tenants, Topics& topics,
            Messages& messages)
      : Component(context),
        zones_(zones),
        tenants_(tenants),
        topics_(topics),
        messages_(messages) {}

  void recover(Reader& reader);
  Reply execute(ScheduleCommand&& command);
  /// What is due publishes: a few per batch, whatever the number of schedules; the next batch
  /// follows at once.
  void advance();
  [[nodiscard]] Moment wake_at() const;
  void flush() { put_by_this_batch_ = never; }

 private:
  Reply decide(UpsertSchedule command);
  Reply decide(const DeleteScheduleCommand& command);
  Reply decide(const SetSchedulePaused& command);

  Result<Moment> next_run(const std::string& cron);
  void put_state(TenantId tenant, const std::string& id, ScheduleState state,
                 Moment previous_next_at);
  void read_due();
  std::size_t run(const ScheduleDue& due);
  Result<Sent> publish_run(Schedule schedule);

  Zones& zones_;
  const Tenants& tenants_;
  Topics& topics_;
  Messages& messages_;

  Moment next_at_{never};            ///< no other run is earlier; there may be none at that time
  Moment put_by_this_batch_{never};  ///< the earliest run of what it has put so far
  std::deque<ScheduleDue> due_;      ///< read, and waiting for their batch; bounded
};

}  // namespace hk::core
