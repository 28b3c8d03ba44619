#include "core/idempotency/idempotency_keys.h"

#include <algorithm>

#include "base/sometimes.h"
#include "core/tenant/tenants.h"
#include "core/timer/timers.h"

HK_SOMETIMES_DECLARE(key_is_over_but_stored)
HK_SOMETIMES_DECLARE(key_forgotten)
HK_SOMETIMES_DECLARE(key_kept_longer_than_its_timer)
HK_SOMETIMES_DECLARE(key_timer_out_of_date)

namespace hk::core {

Reply IdempotencyKeys::execute(IdempotencyCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

std::optional<IdempotencyKey> IdempotencyKeys::find(TenantId tenant, const std::string& space,
                                                    const std::string& key) {
  auto known = batch_.get<IdempotencyKey>({tenant, idempotency_id(space, key)});
  if (known && known->expires_at <= batch_.now()) {
    HK_SOMETIMES(key_is_over_but_stored);
    known.reset();
  }
  return known;
}

void IdempotencyKeys::store(IdempotencyKey& record) {
  // One that comes too early looks and sets the next; so only an earlier one is needed.
  if (record.timer_at == Moment{} || record.expires_at < record.timer_at) {
    record.timer_at = record.expires_at;
    timers_.set(record.timer_at, Timer::Kind::idempotency_key, record.tenant,
                idempotency_id(record.space, record.key));
  }
  changed(record.tenant, idempotency_id(record.space, record.key));
  batch_.put(Put<IdempotencyKey>{record});
}

void IdempotencyKeys::on_timer(Moment due, TenantId tenant, const std::string& id) {
  auto known = batch_.get<IdempotencyKey>({tenant, id});
  if (!known || known->timer_at != due) {
    HK_SOMETIMES(key_timer_out_of_date);
    return;
  }
  if (known->expires_at > batch_.now()) {
    HK_SOMETIMES(key_kept_longer_than_its_timer);
    known->timer_at = Moment{};
    store(*known);
    return;
  }
  HK_SOMETIMES(key_forgotten);
  batch_.erase<IdempotencyKey>(tenant, id);
}

/// What it was doing goes on; its end finds no key.
Reply IdempotencyKeys::decide(const DeleteKey& command) {
  const std::string id = idempotency_id(command.space, command.key);
  if (batch_.get<IdempotencyKey>({command.tenant, id})) {
    batch_.erase<IdempotencyKey>(command.tenant, id);
    changed(command.tenant, id);
  }
  return Done{};
}

}  // namespace hk::core
