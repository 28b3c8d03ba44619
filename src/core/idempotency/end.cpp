// What the holder of a key says: more time, the end, not done.
#include <algorithm>

#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"

HK_SOMETIMES_DECLARE(key_renewed)
HK_SOMETIMES_DECLARE(key_ended)
HK_SOMETIMES_DECLARE(key_ended_after_its_lease)
HK_SOMETIMES_DECLARE(key_ended_again)
HK_SOMETIMES_DECLARE(key_ended_otherwise)
HK_SOMETIMES_DECLARE(key_released)
HK_SOMETIMES_DECLARE(key_fenced)

namespace hk::core {

namespace {

using Outcome = KeyChanged::Outcome;
using State = IdempotencyKey::State;

}  // namespace

std::expected<IdempotencyKey, Reply> IdempotencyKeys::find_held(const HeldKey& held) {
  auto known = find(held.tenant, held.space, held.key);
  if (!known) {
    return std::unexpected<Reply>(fail(
        ErrorKind::not_found,
        "there is no key " + held.key + " in namespace " + held.space + ", or its time is over"));
  }
  if (known->token != held.token) {
    HK_SOMETIMES(key_fenced);
    return std::unexpected<Reply>(
        KeyChanged{.outcome = Outcome::fenced, .record = std::move(*known)});
  }
  return std::move(*known);
}

Reply IdempotencyKeys::decide(const RenewKey& command) {
  auto record = find_held(command);
  if (!record) {
    return std::move(record.error());
  }
  if (record->state != State::started) {
    return KeyChanged{.outcome = Outcome::over, .record = std::move(*record)};
  }
  HK_SOMETIMES(key_renewed);
  record->lease_until = batch_.now() + command.lease;
  record->expires_at = record->lease_until + record->kept_for;
  store(*record);
  return KeyChanged{.outcome = Outcome::done, .record = std::move(*record)};
}

/// A lease that has ended does not matter while nobody has taken over: the work was done, once.
Reply IdempotencyKeys::decide(EndKey command) {
  auto record = find_held(command);
  if (!record) {
    return std::move(record.error());
  }
  const State wanted = command.failed ? State::failed : State::completed;
  if (record->state != State::started) {
    const bool same = record->state == wanted && record->answer == command.answer;
    if (same) {
      HK_SOMETIMES(key_ended_again);
    } else {
      HK_SOMETIMES(key_ended_otherwise);
    }
    return KeyChanged{.outcome = same ? Outcome::again : Outcome::over,
                      .record = std::move(*record)};
  }
  HK_SOMETIMES(key_ended);
  if (record->lease_until <= batch_.now()) {
    HK_SOMETIMES(key_ended_after_its_lease);
  }
  record->state = wanted;
  record->answer = std::move(command.answer);
  record->ended_at = batch_.now();
  record->kept_for = command.kept_for.value_or(record->kept_for);
  record->expires_at = batch_.now() + record->kept_for;
  store(*record);
  return KeyChanged{.outcome = Outcome::done, .record = std::move(*record)};
}

Reply IdempotencyKeys::decide(const ReleaseKey& command) {
  auto record = find_held(command);
  if (!record) {
    return std::move(record.error());
  }
  if (record->state != State::started) {
    return KeyChanged{.outcome = record->state == State::released ? Outcome::again : Outcome::over,
                      .record = std::move(*record)};
  }
  HK_SOMETIMES(key_released);
  record->state = State::released;
  record->ended_at = batch_.now();
  record->expires_at = batch_.now() + record->kept_for;
  store(*record);
  return KeyChanged{.outcome = Outcome::done, .record = std::move(*record)};
}

}  // namespace hk::core
