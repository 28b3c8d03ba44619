#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(key_claimed)
HK_SOMETIMES_DECLARE(key_taken_over)
HK_SOMETIMES_DECLARE(key_claimed_after_release)
HK_SOMETIMES_DECLARE(key_held_by_another)
HK_SOMETIMES_DECLARE(key_ended_before)
HK_SOMETIMES_DECLARE(key_of_another_request)

namespace hk::core {

/// One look and one write in one batch: there is no moment at which two could both find nothing.
Reply IdempotencyKeys::claim(ClaimKey command) {
  using Outcome = KeyClaimed::Outcome;
  using State = IdempotencyKey::State;
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  std::optional<IdempotencyKey> known = find(command.tenant, command.space, command.key);
  if (known) {
    if (!known->hash.empty() && !command.hash.empty() && known->hash != command.hash) {
      HK_SOMETIMES(key_of_another_request);
      return KeyClaimed{
          .outcome = Outcome::other_request, .at = batch_.now(), .record = std::move(*known)};
    }
    if (known->state == State::completed || known->state == State::failed) {
      HK_SOMETIMES(key_ended_before);
      return KeyClaimed{.outcome = Outcome::ended, .at = batch_.now(), .record = std::move(*known)};
    }
    if (known->state == State::started && known->lease_until > batch_.now()) {
      HK_SOMETIMES(key_held_by_another);
      return KeyClaimed{.outcome = Outcome::held, .at = batch_.now(), .record = std::move(*known)};
    }
  }

  KeyClaimed claimed{.outcome = Outcome::started, .at = batch_.now()};
  IdempotencyKey& record = claimed.record;
  if (known) {
    claimed.taken_over = known->state == State::started;
    if (claimed.taken_over) {
      HK_SOMETIMES(key_taken_over);
    } else {
      HK_SOMETIMES(key_claimed_after_release);
    }
    record = std::move(*known);
  } else {
    HK_SOMETIMES(key_claimed);
    record.tenant = command.tenant;
    record.space = std::move(command.space);
    record.key = std::move(command.key);
    record.created_at = batch_.now();
  }
  if (!command.hash.empty()) {
    record.hash = std::move(command.hash);
  }
  record.state = State::started;
  record.token = context_.progress.next_token();
  ++record.attempt;
  record.owner = std::move(command.owner);
  record.lease_until = batch_.now() + command.lease;
  record.kept_for = command.kept_for;
  record.ended_at = Moment{};
  record.expires_at = record.lease_until + record.kept_for;
  store(record);
  return claimed;
}

}  // namespace hk::core
