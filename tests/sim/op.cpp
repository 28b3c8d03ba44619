#include "sim/op.h"

#include <utility>

#include "sim/crons.h"

namespace hk::sim {

namespace {

core::Publish to_publish(const Op& op) {
  return {.message = std::make_unique<core::Message>(*op.message),
          .dedup_window = op.dedup_window,
          .flow = op.flow};
}

core::PublishBatch to_batch(const std::vector<Op>& items) {
  core::PublishBatch batch;
  for (const Op& item : items) {
    batch.items.push_back(to_publish(item));
  }
  return batch;
}

}  // namespace

core::Command to_command(const Op& op) {
  switch (op.kind) {
    case Op::Kind::publish: return to_publish(op);
    case Op::Kind::complete:
      return core::CompleteAttempt{
          .id = op.id,
          .fence = op.fence,
          .attempt = {.response_status = op.response_status,
                      .error = op.delivered ? "" : "answered with an error",
                      .response_body = "r" + std::to_string(op.number)},
          .delivered = op.delivered,
          .give_up = op.give_up,
          .retry_after = op.retry_after};
    case Op::Kind::cancel: return core::CancelMessage{op.tenant, op.id};
    case Op::Kind::retry_dead_letter:
      return core::RetryDeadLetter{op.tenant, op.dead_letter, op.changes};
    case Op::Kind::delete_dead_letter:
      return core::DeleteDeadLetterCommand{op.tenant, op.dead_letter};
    case Op::Kind::queue: return core::UpsertQueue{op.tenant, op.name, op.parallelism, op.paused};
    case Op::Kind::pause_flow:
      return core::SetFlowKeyPaused{op.tenant, op.name, op.paused.value_or(false)};
    case Op::Kind::delete_queue: return core::DeleteQueueCommand{op.tenant, op.name};
    case Op::Kind::pin_flow:
      return core::PinFlowKey{op.tenant, op.name, op.parallelism, op.rate, op.period};
    case Op::Kind::unpin_flow:
      return core::UnpinFlowKey{op.tenant, op.name, op.unpin_parallelism, op.unpin_rate};
    case Op::Kind::reset_flow: return core::ResetFlowRate{op.tenant, op.name};
    case Op::Kind::inspect_flows: return core::InspectFlowKeys{.tenant = op.tenant};
    case Op::Kind::tenant: return core::UpsertTenant{.tenant = {.name = op.name}};
    case Op::Kind::schedule: {
      core::UpsertSchedule upsert;
      upsert.schedule.tenant = op.tenant;
      upsert.schedule.id = op.name;
      upsert.schedule.cron = op.cron ? known_crons.at(*op.cron).text : "every now and then";
      upsert.schedule.prototype = *op.message;
      upsert.schedule.delay = op.delay;
      upsert.schedule.flow = op.flow;
      return upsert;
    }
    case Op::Kind::delete_schedule: return core::DeleteScheduleCommand{op.tenant, op.name};
    case Op::Kind::pause_schedule:
      return core::SetSchedulePaused{op.tenant, op.name, op.paused.value_or(false)};
    case Op::Kind::inspect: return core::Inspect{op.tenant, op.id};
    case Op::Kind::batch: return to_batch(op.items);
    case Op::Kind::add_endpoints: return core::UpsertEndpoints{op.tenant, op.name, op.endpoints};
    case Op::Kind::remove_endpoints: return core::RemoveEndpoints{op.tenant, op.name, op.endpoints};
    case Op::Kind::delete_group: return core::DeleteUrlGroupCommand{op.tenant, op.name};
  }
  std::unreachable();
}

}  // namespace hk::sim
