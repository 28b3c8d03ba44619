#include "sim/op.h"

#include <utility>

namespace hk::sim {

core::Command to_command(const Op& op) {
  switch (op.kind) {
    case Op::Kind::publish:
      return core::Publish{.message = std::make_unique<core::Message>(*op.message),
                           .dedup_window = op.dedup_window,
                           .flow = op.flow};
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
    case Op::Kind::retry_dead_letter: return core::RetryDeadLetter{op.tenant, op.dead_letter};
    case Op::Kind::delete_dead_letter:
      return core::DeleteDeadLetterCommand{op.tenant, op.dead_letter};
    case Op::Kind::queue: return core::UpsertQueue{op.tenant, op.name, op.parallelism, op.paused};
    case Op::Kind::pause_flow:
      return core::SetFlowKeyPaused{op.tenant, op.name, op.paused.value_or(false)};
    case Op::Kind::tenant: return core::UpsertTenant{.tenant = {.name = op.name}};
    case Op::Kind::inspect: return core::Inspect{op.tenant, op.id};
  }
  std::unreachable();
}

}  // namespace hk::sim
