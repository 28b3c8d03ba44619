#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"

HK_SOMETIMES_DECLARE(dead_letter_retried)
HK_SOMETIMES_DECLARE(dead_letter_deleted)

namespace hk::core {

namespace {

std::string dead_letter_name(const DeadLetterKey& key) {
  return std::to_string(to_ms(key.failed_at)) + "-" + std::to_string(key.seq.value());
}

}  // namespace

/// The dead letter leaves the queue and its content becomes a new message, in one batch: it is
/// never in both places and never in neither. The old record stays readable for the retention of
/// finished ones.
Reply Machine::decide(const RetryDeadLetter& command) {
  if (command.key.tenant != command.tenant || !batch_.has_dead_letter(command.key)) {
    return fail(ErrorKind::not_found, "no dead letter " + dead_letter_name(command.key));
  }
  const auto message = batch_.message(command.key.seq);
  HK_ASSERT(message != nullptr);

  HK_SOMETIMES(dead_letter_retried);
  const Reply removed = decide(DeleteDeadLetterCommand{command.tenant, command.key});
  HK_ASSERT(removed.has_value());
  auto again = std::make_shared<Message>(*message);
  again->not_before = Moment{};
  again->dedup_id.clear();  // a retry by hand is never a duplicate
  again->replay_of = message->id;
  return Published{accept(std::move(again)), false};
}

Reply Machine::decide(const DeleteDeadLetterCommand& command) {
  if (command.key.tenant != command.tenant || !batch_.has_dead_letter(command.key)) {
    return fail(ErrorKind::not_found, "no dead letter " + dead_letter_name(command.key));
  }
  auto state = batch_.state(command.key.seq);
  HK_ASSERT(state.has_value() && state->in_dlq && state->status == Status::failed);

  HK_SOMETIMES(dead_letter_deleted);
  state->in_dlq = false;
  state->expires_at = batch_.now() + limits_.retention_finished;
  batch_.delete_dead_letter(command.key);
  batch_.expire_message(state->expires_at, command.key.seq);
  batch_.put_state(command.key.seq, std::move(*state));
  Counters& counts = counters(command.tenant);
  HK_ASSERT(counts.dead_letters > 0);
  --counts.dead_letters;
  return Done{};
}

}  // namespace hk::core
