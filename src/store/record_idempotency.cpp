/// Idempotency keys, and timers.
#include <utility>

#include "store/codec.h"
#include "store/record_parts.h"
#include "store/wire.h"

namespace hk::store {

template <>
std::string Codec<core::IdempotencyKey>::encode(const core::IdempotencyKey& one) {
  const auto& [tenant, space, key, state, hash, token, attempt, owner, lease_until, kept_for,
               created_at, ended_at, expires_at, timer_at, answer, head] = one;
  const auto& [status, content_type, location, etag, by_reference] = head;
  std::string bytes;
  bytes.reserve(128 + answer.size() + content_type.size() + location.size());
  Wire out(bytes);
  out.number(1, static_cast<std::uint32_t>(state));
  out.text(2, hash);
  out.number(3, token);
  out.number(4, attempt);
  out.text(5, owner);
  out.moment(6, lease_until);
  out.integer(7, kept_for.count());
  out.moment(8, created_at);
  out.moment(9, ended_at);
  out.moment(10, expires_at);
  out.moment(11, timer_at);
  out.text(12, answer);
  out.number(13, status);
  out.text(14, content_type);
  out.text(15, location);
  out.text(16, etag);
  out.number(17, by_reference ? 1 : 0);
  return bytes;
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
