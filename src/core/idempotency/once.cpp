// Writes to the server itself: the look at the key, what is done and the answer are one batch.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(once_executed)
HK_SOMETIMES_DECLARE(once_refused_for_good)
HK_SOMETIMES_DECLARE(once_not_kept)
HK_SOMETIMES_DECLARE(once_replayed)
HK_SOMETIMES_DECLARE(once_of_another_request)
HK_SOMETIMES_DECLARE(once_forgotten)
HK_SOMETIMES_DECLARE(once_kept_anew)

namespace hk::core {

/// A decision checks first and changes afterwards. So a command that is refused has put nothing
/// into the batch, and its refusal can be stored alone.
Reply IdempotencyKeys::decide(Once command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto known = find(command.tenant, command.space, command.key)) {
    if (known->hash != command.hash) {
      HK_SOMETIMES(once_of_another_request);
      return OnceReused{};
    }
    HK_SOMETIMES(once_replayed);
    return OnceAnswered{.replayed = true,
                        .answer = {std::move(known->head), std::move(known->answer)}};
  }

  const std::size_t before = batch_.decided();
  Reply reply = Done{};
  if (command.command) {
    HK_ASSERT(!command.command->is<Once>() && tenant_of(*command.command) == command.tenant);
    reply = execute_(std::move(*command.command));
  }
  std::optional<KeptAnswer> kept = command.answers->keep(reply);
  if (!kept) {
    HK_SOMETIMES(once_not_kept);
    HK_ASSERT(batch_.decided() == before);  // else somebody would do it again
    return reply;
  }
  if (reply) {
    HK_SOMETIMES(once_executed);
  } else {
    HK_SOMETIMES(once_refused_for_good);
  }
  TextAnswer& answer = kept->answer;
  answer.head.by_reference = kept->reference.has_value();
  IdempotencyKey record{.tenant = command.tenant,
                        .space = std::move(command.space),
                        .key = std::move(command.key),
                        .state = IdempotencyKey::State::completed,
                        .hash = std::move(command.hash),
                        .attempt = 1,
                        .kept_for = command.kept_for,
                        .created_at = batch_.now(),
                        .ended_at = batch_.now(),
                        .expires_at = batch_.now() + command.kept_for,
                        .answer = kept->reference ? std::move(*kept->reference) : answer.body,
                        .head = answer.head};
  batch_.expire_key(record.expires_at, record.tenant, idempotency_id(record.space, record.key));
  batch_.put(Put<IdempotencyKey>{std::move(record)});
  return OnceAnswered{.answer = std::move(answer)};
}

void IdempotencyKeys::forget_if_over(TenantId tenant, const std::string& id) {
  const auto known = batch_.get<IdempotencyKey>({tenant, id});
  if (!known) {
    return;
  }
  if (known->expires_at > batch_.now()) {
    HK_SOMETIMES(once_kept_anew);  // it was over, and used again before anybody looked
    return;
  }
  HK_SOMETIMES(once_forgotten);
  batch_.erase<IdempotencyKey>(tenant, id);
}

}  // namespace hk::core
