/// The order of runs, which is stored beside the states of schedules: both change together.
#pragma once

#include <string>

#include "core/batch.h"

namespace hk::core {

/// Also moves it in the order of runs. `previous_next_at`: what it replaces; never: nothing.
void put_schedule_state(Batch& batch, TenantId tenant, const std::string& id, ScheduleState state,
                        Moment previous_next_at);
/// With its state and its place in the order of runs.
void erase_schedule(Batch& batch, TenantId tenant, const std::string& id, Moment next_at);

}  // namespace hk::core
