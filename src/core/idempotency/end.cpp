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

/// Not done: it is not the holder's to change.
Result<Outcome> check_holder(const HeldKey& held, const std::optional<IdempotencyKey>& known) {
  if (!known) {
    return fail(ErrorKind::not_found, "there is no key " + held.key + " in namespace " +
                                          held.space + ", or its time is over");
  }
  if (known->token != held.token) {
    HK_SOMETIMES(key_fenced);
    return Outcome::fenced;
  }
  return Outcome::done;
}

}  // namespace

Reply IdempotencyKeys::decide(const RenewKey& command) {
  auto known = find(command.tenant, command.space, command.key);
  const auto held = check_holder(command, known);
  if (!held) {
    return std::unexpected(held.error());
  }
  if (*held != Outcome::done || known->state != State::started) {
    return KeyChanged{.outcome = *held != Outcome::done ? *held : Outcome::over,
                      .record = std::move(*known)};
  }
  HK_SOMETIMES(key_renewed);
  known->lease_until = batch_.now() + command.lease;
  known->expires_at = known->lease_until + known->kept_for;
  store(*known);
  return KeyChanged{.outcome = Outcome::done, .record = std::move(*known)};
}

/// A lease that has ended does not matter while nobody has taken over: the work was done, once.
Result<KeyChanged::Outcome> IdempotencyKeys::check(const EndKey& command,
                                                   std::optional<IdempotencyKey>& known) const {
  if (const auto held = check_holder(command, known); !held || *held != Outcome::done) {
    return held;
  }
  const State wanted = command.failed ? State::failed : State::completed;
  if (known->state != State::started) {
    const bool same = known->state == wanted && known->answer == command.answer;
    if (same) {
      HK_SOMETIMES(key_ended_again);
    } else {
      HK_SOMETIMES(key_ended_otherwise);
    }
    return same ? Outcome::again : Outcome::over;
  }
  HK_SOMETIMES(key_ended);
  if (known->lease_until <= batch_.now()) {
    HK_SOMETIMES(key_ended_after_its_lease);
  }
  known->state = wanted;
  known->answer = command.answer;
  known->ended_at = batch_.now();
  known->kept_for = command.kept_for.value_or(known->kept_for);
  known->expires_at = batch_.now() + known->kept_for;
  return Outcome::done;
}

Result<KeyChanged::Outcome> IdempotencyKeys::check(const ReleaseKey& command,
                                                   std::optional<IdempotencyKey>& known) const {
  if (const auto held = check_holder(command, known); !held || *held != Outcome::done) {
    return held;
  }
  if (known->state != State::started) {
    return known->state == State::released ? Outcome::again : Outcome::over;
  }
  HK_SOMETIMES(key_released);
  known->state = State::released;
  known->ended_at = batch_.now();
  known->expires_at = batch_.now() + known->kept_for;
  return Outcome::done;
}

template <class Change>
Reply IdempotencyKeys::check_and_store(const Change& command) {
  auto known = find(command.tenant, command.space, command.key);
  const auto outcome = check(command, known);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  if (*outcome == Outcome::done) {
    store(*known);
  }
  return KeyChanged{.outcome = *outcome, .record = std::move(*known)};
}

Reply IdempotencyKeys::decide(const EndKey& command) { return check_and_store(command); }
Reply IdempotencyKeys::decide(const ReleaseKey& command) { return check_and_store(command); }

}  // namespace hk::core
