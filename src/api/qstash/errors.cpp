#include "api/qstash/errors.h"

#include <utility>

#include "api/error_fields.h"
#include "api/json.h"
#include "observe/log.h"

namespace hk::api::qstash {

int http_status(ErrorKind kind) {
  switch (kind) {  // No default: a new kind must be answered here before it compiles.
    case ErrorKind::invalid_argument: return 400;
    case ErrorKind::unauthenticated: return 401;
    case ErrorKind::permission_denied: return 403;
    case ErrorKind::not_found: return 404;
    case ErrorKind::conflict: return 409;
    case ErrorKind::limit_exceeded: return 429;
    case ErrorKind::unavailable:
    case ErrorKind::unknown_outcome: return 503;
    case ErrorKind::corruption:
    case ErrorKind::internal: return 500;
  }
  std::unreachable();
}

http::Response error_response(int status, std::string_view text) {
  http::Response response;
  response.status = status;
  response.body = "{\"error\":";
  append_json_string(response.body, text);
  response.body += '}';
  return response;
}

http::Response error_response(const Error& error) {
  const int status = http_status(error.kind);
  if (status == 500) {
    observe::log(observe::Level::error, "api.internal_error", {{"error", error.message}});
    return error_response(status, "the server could not do this; its log says why");
  }
  http::Response response = error_response(status, error.message);
  add_error_fields(response, error.kind);
  return response;
}

}  // namespace hk::api::qstash
