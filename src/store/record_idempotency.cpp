/// Idempotency keys, and timers.
#include <utility>

#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {

template <>
std::string Codec<core::IdempotencyKey>::encode(const core::IdempotencyKey& one) {
  const auto& [tenant, space, key, state, hash, token, attempt, owner, lease_until, kept_for,
               created_at, ended_at, expires_at, timer_at, answer, head] = one;
  records::IdempotencyKey record;
  record.set_state(static_cast<std::uint32_t>(state));
  record.set_hash(hash);
  record.set_token(token);
  record.set_attempt(attempt);
  record.set_owner(owner);
  record.set_lease_until(to_ms(lease_until));
  record.set_kept_for(kept_for.count());
  record.set_created_at(to_ms(created_at));
  record.set_ended_at(to_ms(ended_at));
  record.set_expires_at(to_ms(expires_at));
  record.set_timer_at(to_ms(timer_at));
  record.set_answer(answer);
  const auto& [status, content_type, location, etag, by_reference] = head;
  record.set_status(status);
  record.set_content_type(content_type);
  record.set_location(location);
  record.set_etag(etag);
  record.set_by_reference(by_reference);
  return serialize(record);
}

template <>
Result<core::IdempotencyKey> Codec<core::IdempotencyKey>::decode(
    core::KeyOf<core::IdempotencyKey> key, std::string_view value) {
  using State = core::IdempotencyKey::State;
  records::IdempotencyKey record;
  const auto& [tenant, id] = key;
  const std::size_t end_of_space = id.find('\0');
  if (!parse(record, value) || end_of_space == std::string::npos ||
      record.state() < static_cast<std::uint32_t>(State::started) ||
      record.state() > static_cast<std::uint32_t>(State::released)) {
    return broken_record("idempotency key");
  }
  return core::IdempotencyKey{.tenant = tenant,
                              .space = id.substr(0, end_of_space),
                              .key = id.substr(end_of_space + 1),
                              .state = static_cast<State>(record.state()),
                              .hash = std::move(*record.mutable_hash()),
                              .token = record.token(),
                              .attempt = record.attempt(),
                              .owner = std::move(*record.mutable_owner()),
                              .lease_until = moment_from_ms(record.lease_until()),
                              .kept_for = Millis{record.kept_for()},
                              .created_at = moment_from_ms(record.created_at()),
                              .ended_at = moment_from_ms(record.ended_at()),
                              .expires_at = moment_from_ms(record.expires_at()),
                              .timer_at = moment_from_ms(record.timer_at()),
                              .answer = std::move(*record.mutable_answer()),
                              .head = {.status = record.status(),
                                       .content_type = std::move(*record.mutable_content_type()),
                                       .location = std::move(*record.mutable_location()),
                                       .etag = std::move(*record.mutable_etag()),
                                       .by_reference = record.by_reference()}};
}

template <>
std::string Codec<core::Timer>::encode(const core::Timer& /*timer*/) {
  return {};  // the key says everything
}

template <>
Result<core::Timer> Codec<core::Timer>::decode(core::KeyOf<core::Timer> key,
                                               std::string_view /*value*/) {
  auto& [due, kind, tenant, text] = key;
  if (!core::is_timer_kind(kind)) {
    return broken_record("timer");
  }
  return core::Timer{.due = due,
                     .kind = static_cast<core::Timer::Kind>(kind),
                     .tenant = tenant,
                     .key = std::move(text)};
}

}  // namespace hk::store
