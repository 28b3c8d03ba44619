#include "api/webhooks/errors.h"

#include <utility>

#include "base/json.h"

namespace hk::api::webhooks {

namespace {

constexpr Problem invalid_fields{"invalid", "Invalid request"};

/// "body", "retry", "delays", "[2]" → "/retry/delays/2".
std::string pointer_of(const svix::FieldError& error) {
  std::string pointer;
  for (std::size_t i = 1; i < error.loc.size(); ++i) {
    std::string_view step = error.loc[i];
    if (step.starts_with('[') && step.ends_with(']')) {
      step = step.substr(1, step.size() - 2);
    }
    pointer += '/';
    for (const char c : step) {
      if (c == '~') {
        pointer += "~0";
      } else if (c == '/') {
        pointer += "~1";
      } else {
        pointer += c;
      }
    }
  }
  return pointer;
}

}  // namespace

http::Response wrong_fields(const svix::FieldErrors& errors, std::string_view request_id) {
  const svix::FieldError& first = errors.all().front();
  const std::string pointer = pointer_of(first);
  const std::string detail = (pointer.empty() ? "the body" : pointer) + ": " + first.msg;
  return problem(invalid_fields, 422, detail, request_id, [&errors](JsonWriter& json) {
    json.key("errors");
    json.begin_array();
    for (const svix::FieldError& one : errors.all()) {
      json.begin_object();
      json.field("pointer", pointer_of(one));
      json.field("detail", one.msg);
      json.end_object();
    }
    json.end_array();
  });
}

Refusal not_found(std::string_view what) {
  return {.status = 404, .detail = "there is no such " + std::string(what)};
}

Said refused_problem(const webhook::Refused& refused) {
  using Why = webhook::Refused::Why;
  switch (refused.why) {  // No default: a new reason must be told here before it compiles.
    case Why::application_not_found: return not_found("application");
    case Why::endpoint_not_found: return not_found("endpoint");
    case Why::event_type_not_found: return not_found("event type");
    case Why::event_not_found: return not_found("message");
    case Why::attempt_not_found: return not_found("attempt");
    case Why::integration_not_found: return not_found("integration");
    case Why::token_not_found: return not_found("token");
    case Why::ref_is_no_uid: return not_found("thing");
    case Why::uid_taken: return Refusal{.status = 409, .detail = "another one has that uid"};
    case Why::event_id_taken:
      return Refusal{.status = 409, .detail = "another message has that eventId"};
    case Why::event_type_exists:
      return Refusal{.status = 409, .detail = "there is such an event type"};
    case Why::event_types_unknown:
    case Why::event_type_unknown:
      return Refusal{.status = 422, .detail = "there is no event type " + refused.detail};
    case Why::limit_reached:
      return Refusal{.status = 412,
                     .detail = "there are as many " + refused.detail + " as there may be"};
    case Why::endpoint_disabled:
      return Refusal{.status = 409, .detail = "the endpoint is disabled: enable it first"};
    case Why::payload_gone:
      return Refusal{.status = 409, .detail = "the payload of the message is gone"};
    case Why::needs_symmetric_secret:
      return Refusal{.status = 422,
                     .detail =
                         "signing.stripe: needs a whsec_ secret, and the endpoint has one of "
                         "ed25519; rotate it first"};
    case Why::payload_too_large:
      return Refusal{.status = 413, .detail = "the payload is too large"};
    case Why::https_only:
      return Refusal{.status = 422, .detail = "url: the settings ask for https"};
  }
  std::unreachable();
}

}  // namespace hk::api::webhooks
