#include "api/svix/errors.h"

#include <utility>

#include "api/error_fields.h"
#include "base/json.h"
#include "observe/log.h"

namespace hk::api::svix {

namespace {

std::string_view code_of_status(int status) {
  switch (status) {
    case 401: return "authentication_failed";
    case 403: return "insufficient access";
    case 404: return "not_found";
    case 405: return "method_not_allowed";
    case 409: return "conflict";
    case 413: return "payload_too_large";
    case 429: return "rate_limited";
    case 501: return "not_implemented";
    default: return status >= 500 ? "server_error" : "generic_error";
  }
}

http::Response conflict(std::string_view detail) { return error_response(409, "conflict", detail); }

http::Response wrong_field(std::vector<std::string> loc, std::string msg) {
  return unprocessable({.loc = std::move(loc), .msg = std::move(msg)});
}

}  // namespace

http::Response error_response(int status, std::string_view code, std::string_view detail) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("code", code);
  json.field("detail", detail);
  json.end_object();
  return response;
}

http::Response error_response(int status, std::string_view detail) {
  // Clients compare these texts.
  switch (status) {
    case 401: detail = "Invalid token"; break;
    case 403: detail = "Insufficient access for the given operation."; break;
    case 404: detail = "Entity not found"; break;
    default: break;
  }
  return error_response(status, code_of_status(status), detail);
}

http::Response error_response(const Error& error, std::string_view request_id) {
  const int status = http_status(error.kind);
  if (status == 500) {
    observe::log(observe::Level::error, "api.internal_error",
                 {{"error", error.message}, {"request_id", request_id}});
    return error_response(status, "internal error; see the log of the server");
  }
  // Of a quota there is no word of its own here.
  http::Response response = error.kind == ErrorKind::quota_reached
                                ? error_response(400, "limit_reached", error.message)
                                : error_response(status, error.message);
  add_error_fields(response, error.kind);
  return response;
}

http::Response not_found() { return error_response(404, ""); }

http::Response refused_response(const webhook::Refused& refused) {
  using Why = webhook::Refused::Why;
  switch (refused.why) {  // No default: a new reason must be told here before it compiles.
    case Why::application_not_found:
      return error_response(404, "not_found", "Application not found");
    case Why::endpoint_not_found:
    case Why::event_type_not_found:
    case Why::event_not_found:
    case Why::attempt_not_found:
    case Why::integration_not_found:
    case Why::token_not_found:
    case Why::ref_is_no_uid: return not_found();
    case Why::uid_taken: return conflict("An entity with this uid already exists.");
    case Why::event_id_taken: return conflict("A message with this eventId already exists.");
    case Why::event_type_exists:
      return error_response(409, "event_type_exists",
                            "An event type with this name already exists.");
    case Why::event_types_unknown:
      return wrong_field({"body", "eventTypes"},
                         "The following event types don't exist: " + refused.detail);
    case Why::event_type_unknown:
      return wrong_field({"body", "eventType"}, "The event type " + refused.detail +
                                                    " doesn't exist: create it first, or "
                                                    "set eventTypes to open in the settings");
    case Why::limit_reached:
      return error_response(400, "limit_reached",
                            "There are as many " + refused.detail + " as there may be.");
    case Why::endpoint_disabled:
      return error_response(400, "endpoint_disabled", "The endpoint is disabled: enable it first.");
    case Why::payload_gone:
      return error_response(400, "missing_payload", "The payload of this message is gone.");
    case Why::needs_symmetric_secret:
      return wrong_field({"body", "key"},
                         "The endpoint signs in the layout of Stripe: that needs a whsec_ secret");
    case Why::payload_too_large:
      return error_response(413, "payload_too_large",
                            refused.detail.empty() ? "The payload is too large." : refused.detail);
    case Why::https_only:
      return wrong_field({"body", "url"}, "The settings ask for https: use an https URL");
  }
  std::unreachable();
}

http::Response FieldErrors::response() const {
  http::Response response;
  response.status = 422;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("detail");
  json.begin_array();
  for (const FieldError& one : errors_) {
    json.begin_object();
    json.key("loc");
    json.begin_array();
    for (const std::string& step : one.loc) {
      json.string(step);
    }
    json.end_array();
    json.field("msg", one.msg);
    json.field("type", one.type);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return response;
}

http::Response unprocessable(FieldError error) {
  FieldErrors errors;
  errors.add(std::move(error));
  return errors.response();
}

}  // namespace hk::api::svix
