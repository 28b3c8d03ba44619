// The calls below /api/v1/idempotency.
#include <algorithm>
#include <array>

#include "api/idempotency/body.h"
#include "api/idempotency/ending.h"
#include "api/idempotency/handlers.h"
#include "api/once.h"
#include "api/parameters.h"
#include "api/problem.h"
#include "api/reply.h"
#include "base/ascii.h"
#include "base/date.h"
#include "base/encoding.h"
#include "base/json.h"
#include "core/reader.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "security/digest.h"

namespace hk::api::idempotency {

namespace {

using core::IdempotencyKey;
using core::KeyChanged;
using core::KeyClaimed;

constexpr Problem in_progress{"idempotency_in_progress", "In progress"};

constexpr Millis second{1000};
constexpr Millis lease_min = second;
constexpr Millis lease_max = 3600 * second;
constexpr Millis lease_default = 60 * second;
constexpr Millis wait_max = 60 * second;

/// The outcome as the holder gave it.
void add_answer(JsonWriter& json, const IdempotencyKey& record) {
  if (record.state == IdempotencyKey::State::completed ||
      record.state == IdempotencyKey::State::failed) {
    json.key(record.state == IdempotencyKey::State::completed ? "response" : "error");
    json.whole(record.answer);
  }
}

/// "" = none was given. The hash of nothing is not that of null.
Result<std::string> hash_of(const Body& body) {
  const ExactJson* const request = body.find("request");
  const auto given = body.text("request_hash");
  if (!given) {
    return std::unexpected(given.error());
  }
  if (!*given) {
    return request == nullptr ? std::string() : hex(security::sha256(request->canonical()));
  }
  if (request != nullptr) {
    return fail(ErrorKind::invalid_argument, "give request or request_hash, not both");
  }
  constexpr std::size_t digits = 64;
  std::string hash = lower_case(**given);
  if (hash.size() != digits || !std::ranges::all_of(hash, is_hex_digit)) {
    return fail(ErrorKind::invalid_argument, "request_hash: must be 64 hexadecimal digits");
  }
  return hash;
}

Result<core::ClaimKey> read_claim(const Services& services, const Call& call) {
  const auto body = Body::read(call.request.body, {"key", "namespace", "request", "request_hash",
                                                   "lease", "ttl", "wait", "owner"});
  if (!body) {
    return std::unexpected(body.error());
  }
  auto named = body->name();
  auto hash = hash_of(*body);
  const auto lease = body->duration("lease", lease_min, lease_max);
  const auto ttl = body->duration("ttl", ttl_min, ttl_max);
  const auto wait = body->duration("wait", Millis{0}, wait_max);
  auto owner = body->text("owner");
  if (const Error* const wrong = first_error(named, hash, lease, ttl, wait, owner)) {
    return std::unexpected(*wrong);
  }
  constexpr std::size_t owner_bytes_max = 255;
  if (owner->value_or("").size() > owner_bytes_max) {
    return fail(ErrorKind::invalid_argument, "owner: must have at most 255 bytes");
  }
  return core::ClaimKey{.tenant = call.tenant->id,
                        .space = std::move(named->space),
                        .key = std::move(named->key),
                        .hash = std::move(*hash),
                        .owner = owner->value_or(""),
                        .lease = lease->value_or(lease_default),
                        .kept_for = ttl->value_or(services.options.idempotency_ttl),
                        .wait = wait->value_or(Millis{0})};
}

void count_claim(observe::Metrics& metrics, int status) {
  switch (status) {
    case 201: metrics.claimed(observe::ClaimResult::started); break;
    case 200: metrics.claimed(observe::ClaimResult::replayed); break;
    case 409: metrics.claimed(observe::ClaimResult::held); break;
    case 422: metrics.claimed(observe::ClaimResult::reused); break;
    default: break;
  }
}

void write_ended(JsonWriter& json, const IdempotencyKey& record) {
  json.field("state", name_of(record.state));
  add_answer(json, record);
  json.field("replayed", true);
}

Said tell_claim(const KeyClaimed& claimed) {
  const IdempotencyKey& record = claimed.record;
  switch (claimed.outcome) {
    case KeyClaimed::Outcome::held: {
      const auto rest = std::chrono::ceil<std::chrono::seconds>(record.lease_until - claimed.at);
      return Refusal{
          in_progress,
          409,
          "somebody holds this key until " + rfc3339(record.lease_until) + "; claim it again then",
          {{"Retry-After", std::to_string(std::max<std::int64_t>(1, rest.count()))}}};
    }
    case KeyClaimed::Outcome::other_request:
      return Refusal{key_reused, 422,
                     "this key was used for another request: use a new key for each piece of work"};
    case KeyClaimed::Outcome::started:
    case KeyClaimed::Outcome::ended: break;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  if (claimed.outcome == KeyClaimed::Outcome::started) {
    response.status = 201;
    json.field("state", name_of(record.state));
    json.field("token", record.token);
    json.field("lease_until", rfc3339(record.lease_until));
    json.field("attempt", record.attempt);
    json.field("taken_over", claimed.taken_over);
  } else {
    write_ended(json, record);
  }
  json.end_object();
  return response;
}

/// What is told to a holder; `write` adds what is particular to its call.
template <class Write>
auto telling_change(Write write) {
  return [write](const core::Reply& reply) -> Said {
    const auto& changed = answer_of<KeyChanged>(reply);
    switch (changed.outcome) {
      case KeyChanged::Outcome::fenced:
      case KeyChanged::Outcome::over: {
        KeyRefused why = told_of_key(changed);
        return Refusal{why.what, 409, std::move(why.detail)};
      }
      case KeyChanged::Outcome::done:
      case KeyChanged::Outcome::again: break;
    }
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    write(json, changed);
    json.end_object();
    return response;
  };
}

void write_end(JsonWriter& json, const KeyChanged& changed) {
  json.field("state", name_of(changed.record.state));
  json.field("replayed", changed.outcome == KeyChanged::Outcome::again);
}

/// What is kept as an outcome has a bound.
Write refuse_end(const Error& error) {
  if (error.kind == ErrorKind::limit_exceeded) {
    return Refusal{.status = 413, .detail = error.message};
  }
  return error;
}

Result<KeyName> read_query(const http::Request& request) {
  constexpr std::array<std::string_view, 2> names = {"key", "namespace"};
  const auto parameters = Parameters::from_query(request.query());
  if (!parameters) {
    return std::unexpected(parameters.error());
  }
  if (auto known = parameters->only(names); !known) {
    return std::unexpected(known.error());
  }
  auto space = parameters->one("namespace");
  if (space && !*space && parameters->given("namespace")) {
    space->emplace();  // empty is not the same as left out
  }
  return check_name(parameters->one("key"), space);
}

}  // namespace

Write claim(const Services& services, Call& call) {
  Result<core::ClaimKey> command = read_claim(services, call);
  if (!command) {
    return std::move(command.error());
  }
  if (command->wait > Millis{0}) {
    command->receiver = call.batcher.next_receiver();
    call.answer.when_gone(
        [&batcher = call.batcher, tenant = call.tenant->id, receiver = command->receiver] {
          batcher.submit(core::StopClaiming{tenant, receiver}, [](const core::Reply&) {});
        });
  }
  return Planned{
      .command = std::move(*command),
      .tell = [](const core::Reply& reply) { return tell_claim(answer_of<KeyClaimed>(reply)); },
      .done = [&services](int status) { count_claim(services.metrics, status); },
      .refer =
          [](const core::Reply& reply) {
            const IdempotencyKey& record = answer_of<KeyClaimed>(reply).record;
            return core::idempotency_id(record.space, record.key);
          }};
}

http::Response show_ended(const Services& services, core::TenantId tenant,
                          std::string_view reference) {
  const auto record = services.submitter.durable_view(tenant)->get<IdempotencyKey>(
      {tenant, std::string(reference)});
  if (!record || (record->state != IdempotencyKey::State::completed &&
                  record->state != IdempotencyKey::State::failed)) {
    return to_response(Error{ErrorKind::not_found,
                             "this was answered with the outcome of a key that is forgotten"},
                       Surface::own, "");
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_ended(json, *record);
  json.end_object();
  return response;
}

Write renew(const Services& /*services*/, Call& call) {
  const auto body = Body::read(call.request.body, {"key", "namespace", "token", "lease"});
  if (!body) {
    return body.error();
  }
  auto held = body->held(call.tenant->id);
  const auto lease = body->duration("lease", lease_min, lease_max);
  if (const Error* const wrong = first_error(held, lease)) {
    return *wrong;
  }
  return Planned{.command = core::RenewKey{std::move(*held), lease->value_or(lease_default)},
                 .tell = telling_change([](JsonWriter& json, const KeyChanged& changed) {
                   json.field("lease_until", rfc3339(changed.record.lease_until));
                 })};
}

Write complete(const Services& /*services*/, Call& call) {
  const auto body = Body::read(call.request.body, {"key", "namespace", "token", "response", "ttl"});
  auto command = body ? read_completed(call.tenant->id, *body)
                      : Result<core::EndKey>(std::unexpected(body.error()));
  if (!command) {
    return refuse_end(command.error());
  }
  return Planned{.command = std::move(*command), .tell = telling_change(write_end)};
}

Write fail_key(const Services& /*services*/, Call& call) {
  const auto body = Body::read(call.request.body, {"key", "namespace", "token", "error", "final"});
  auto command =
      body ? read_failed(call.tenant->id, *body) : Result<FailedKey>(std::unexpected(body.error()));
  if (!command) {
    return refuse_end(command.error());
  }
  return std::visit(
      [](auto& one) -> Write {
        return Planned{.command = std::move(one), .tell = telling_change(write_end)};
      },
      *command);
}

void get_key(const Services& services, Call& call) {
  const auto named = read_query(call.request);
  if (!named) {
    call.answer.refuse(named.error());
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto record = services.submitter.durable_view(tenant)->get<IdempotencyKey>(
      {tenant, core::idempotency_id(named->space, named->key)});
  if (!record || record->expires_at <= services.now()) {
    call.answer.refuse(404, "there is no key " + named->key + " in namespace " + named->space);
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("key", record->key);
  json.field("namespace", record->space);
  json.field("state", name_of(record->state));
  add_answer(json, *record);
  if (!record->hash.empty()) {
    json.field("request_hash", record->hash);
  }
  json.field("token", record->token);
  json.field("attempt", record->attempt);
  if (!record->owner.empty()) {
    json.field("owner", record->owner);
  }
  json.field("created_at", rfc3339(record->created_at));
  json.field("lease_until", rfc3339(record->lease_until));
  if (record->ended_at != Moment{}) {
    json.field("ended_at", rfc3339(record->ended_at));
  }
  json.field("expires_at", rfc3339(record->expires_at));
  json.end_object();
  call.answer(std::move(response));
}

/// A key that is deleted lets its work be done again: whoever does that is named in the log.
Write delete_key(const Services& /*services*/, Call& call) {
  const auto named = read_query(call.request);
  if (!named) {
    return named.error();
  }
  return Planned{.command = core::DeleteKey{call.tenant->id, named->space, named->key},
                 .tell =
                     [named = *named](const core::Reply& /*reply*/) {
                       http::Response response;
                       JsonWriter json(response.body);
                       json.begin_object();
                       json.field("key", named.key);
                       json.field("namespace", named.space);
                       json.end_object();
                       return response;
                     },
                 .done = when_done([named = *named, id = call.tenant->id] {
                   observe::log(
                       observe::Level::warn, "idempotency.key_deleted",
                       {{"tenant", id.value()}, {"namespace", named.space}, {"key", named.key}});
                 })};
}

}  // namespace hk::api::idempotency
