#include "core/schedule/order.h"

#include <utility>

namespace hk::core {

void put_schedule_state(Batch& batch, TenantId tenant, const std::string& id, ScheduleState state,
                        Moment previous_next_at) {
  const Moment next_at = state.next_at;
  if (previous_next_at != never && previous_next_at != next_at) {
    batch.erase<ScheduleDue>(previous_next_at, tenant, id);
  }
  batch.put(Put<ScheduleState>{{{tenant, id}, std::move(state)}});
  if (next_at != never) {
    batch.put(Put<ScheduleDue>{{next_at, tenant, id}});
  }
}

void erase_schedule(Batch& batch, TenantId tenant, const std::string& id, Moment next_at) {
  batch.erase<Schedule>(tenant, id);
  batch.erase<ScheduleState>(tenant, id);
  if (next_at != never) {
    batch.erase<ScheduleDue>(next_at, tenant, id);
  }
}

}  // namespace hk::core
