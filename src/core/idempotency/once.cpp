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

Reply IdempotencyKeys::decide(Once command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto known = known_answer(command)) {
    return std::move(*known);
  }
  const std::size_t before = batch_.decided();
  Reply reply = Done{};
  if (command.command) {
    HK_ASSERT(!command.command->is<Once>() && tenant_of(*command.command) == command.tenant);
    reply = execute_(std::move(*command.command));
  }
  if (const auto* const later = reply ? reply->get_if<Later>() : nullptr) {
    const auto waiter = waiters_.find(later->receiver);
    HK_ASSERT(waiter != waiters_.end());  // nothing else under a key waits
    waiter->second.once = std::move(command);
    return reply;
  }
  return keep_answer(std::move(command), std::move(reply), before);
}

std::optional<Reply> IdempotencyKeys::known_answer(const Once& once) {
  auto known = find(once.tenant, once.space, once.key);
  if (!known) {
    return std::nullopt;
  }
  if (known->hash != once.hash) {
    HK_SOMETIMES(once_of_another_request);
    return OnceReused{};
  }
  HK_SOMETIMES(once_replayed);
  return OnceAnswered{.replayed = true,
                      .answer = {std::move(known->head), std::move(known->answer)}};
}

/// A decision checks first and changes afterwards. So a command that is refused has put nothing
/// into the batch, and its refusal can be stored alone.
Reply IdempotencyKeys::keep_answer(Once once, Reply reply, std::size_t before) {
  std::optional<KeptAnswer> kept = once.answers->keep(reply);
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
  IdempotencyKey record{.tenant = once.tenant,
                        .space = std::move(once.space),
                        .key = std::move(once.key),
                        .state = IdempotencyKey::State::completed,
                        .hash = std::move(once.hash),
                        .attempt = 1,
                        .kept_for = once.kept_for,
                        .created_at = batch_.now(),
                        .ended_at = batch_.now(),
                        .expires_at = batch_.now() + once.kept_for,
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
