#include "api/idempotency/ending.h"

#include <utility>

namespace hk::api::idempotency {

namespace {

constexpr Problem fenced{"fenced", "Fenced"};
constexpr Problem already_completed{"already_completed", "Already completed"};

/// JSON that is kept as an outcome.
Result<std::string> outcome_text(const ExactJson& json, std::string_view name) {
  std::string text = json.to_text();
  if (text.size() > answer_bytes_max) {
    return fail(ErrorKind::limit_exceeded, std::string(name) + ": must have at most " +
                                               std::to_string(answer_bytes_max / 1024) + " KiB");
  }
  return text;
}

}  // namespace

Result<core::EndKey> read_completed(core::TenantId tenant, const Body& body) {
  auto held = body.held(tenant);
  const auto ttl = body.duration("ttl", ttl_min, ttl_max);
  if (const Error* const wrong = first_error(held, ttl)) {
    return std::unexpected(*wrong);
  }
  const ExactJson* const response = body.find("response");
  if (response == nullptr) {
    return fail(ErrorKind::invalid_argument, "response: must be given; null is a response, too");
  }
  auto text = outcome_text(*response, "response");
  if (!text) {
    return std::unexpected(text.error());
  }
  return core::EndKey{std::move(*held), false, std::move(*text), *ttl};
}

Result<FailedKey> read_failed(core::TenantId tenant, const Body& body) {
  auto held = body.held(tenant);
  const auto final = body.boolean("final");
  if (const Error* const wrong = first_error(held, final)) {
    return std::unexpected(*wrong);
  }
  const ExactJson* const error = body.find("error");
  if (!*final || error == nullptr || error->kind != ExactJson::Kind::object) {
    return fail(ErrorKind::invalid_argument,
                R"(the body must have "error": {…} and "final": true or false)");
  }
  auto text = outcome_text(*error, "error");
  if (!text) {
    return std::unexpected(text.error());
  }
  if (**final) {
    return core::EndKey{std::move(*held), true, std::move(*text), {}};
  }
  return core::ReleaseKey{std::move(*held)};
}

const char* name_of(core::IdempotencyKey::State state) {
  switch (state) {
    case core::IdempotencyKey::State::started: return "started";
    case core::IdempotencyKey::State::completed: return "completed";
    case core::IdempotencyKey::State::failed: return "failed";
    case core::IdempotencyKey::State::released: return "released";
  }
  std::unreachable();
}

KeyRefused told_of_key(const core::KeyChanged& changed) {
  if (changed.outcome == core::KeyChanged::Outcome::fenced) {
    return {fenced,
            "the token is not that of the last claim: somebody else holds this key, or held it "
            "after you. Nothing was changed"};
  }
  return {already_completed, std::string("this key is ") + name_of(changed.record.state) +
                                 " already, with another outcome. Nothing was changed"};
}

}  // namespace hk::api::idempotency
