// Who makes, changes and removes schedules.
#include "sim/crons.h"
#include "sim/simulation.h"

namespace hk::sim {

void Simulation::schedule_acts() {
  const std::string name = "s" + std::to_string(rng_.below(config_.schedules));
  Op op;
  switch (rng_.below(8)) {
    case 0:
    case 1:
    case 2: {
      op = make_publish();
      op.kind = Op::Kind::schedule;
      op.delay = chance(300) ? up_to(Millis{90'000}) : Millis{0};
      if (!chance(config_.bad_requests)) {
        op.cron = static_cast<std::uint32_t>(chance(600) ? 0 : rng_.below(known_crons.size()));
      }
      break;
    }
    case 3: op.kind = Op::Kind::delete_schedule; break;
    default: op.kind = Op::Kind::pause_schedule; op.paused = chance(500);
  }
  if (op.kind != Op::Kind::schedule) {
    op.tenant = core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  }
  op.name = name;
  if (chance(300)) {
    // In the very millisecond of a run: then it is the batch's order that decides.
    const Moment tick = next_run(known_crons.front(), partition_now());
    heap_.after(tick - partition_now(), [this, op = std::move(op)] {
      if (publishing_) {
        submit(op);
      }
    });
    return;
  }
  submit(std::move(op));
}

/// They would make messages for ever.
void Simulation::delete_schedules() {
  for (const auto& [key, schedule] : model_.schedules()) {
    submit({.kind = Op::Kind::delete_schedule, .tenant = key.first, .name = key.second});
  }
}

}  // namespace hk::sim
