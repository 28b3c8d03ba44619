#include "api/problem.h"

#include <string>
#include <utility>

#include "api/error_fields.h"
#include "base/json.h"
#include "observe/log.h"

namespace hk::api {

namespace {

namespace problems {

constexpr Problem invalid{"invalid", "Invalid request"};
constexpr Problem unauthenticated{"unauthenticated", "Token required"};
constexpr Problem permission_denied{"permission_denied", "Permission denied"};
constexpr Problem not_found{"not_found", "Not found"};
constexpr Problem method_not_allowed{"method_not_allowed", "Method not allowed"};
constexpr Problem request_timeout{"request_timeout", "Request timeout"};
constexpr Problem conflict{"conflict", "Conflict"};
constexpr Problem quota_reached{"quota_reached", "Quota reached"};
constexpr Problem too_large{"too_large", "Too large"};
constexpr Problem rate_limited{"rate_limited", "Too many requests"};
constexpr Problem internal{"internal", "Internal error"};
constexpr Problem not_available{"not_available", "Not available"};
constexpr Problem unavailable{"unavailable", "Temporarily unavailable"};
constexpr Problem unknown_outcome{"unknown_outcome", "Unknown outcome"};

}  // namespace problems

}  // namespace

const Problem& problem_of(ErrorKind kind) {
  switch (kind) {  // No default: a new kind must be named here before it compiles.
    case ErrorKind::invalid_argument: return problems::invalid;
    case ErrorKind::unauthenticated: return problems::unauthenticated;
    case ErrorKind::permission_denied: return problems::permission_denied;
    case ErrorKind::not_found: return problems::not_found;
    case ErrorKind::conflict: return problems::conflict;
    case ErrorKind::limit_exceeded: return problems::rate_limited;
    case ErrorKind::quota_reached: return problems::quota_reached;
    case ErrorKind::unavailable: return problems::unavailable;
    case ErrorKind::unknown_outcome: return problems::unknown_outcome;
    case ErrorKind::corruption:
    case ErrorKind::internal: return problems::internal;
  }
  std::unreachable();
}

namespace {

/// For what has no kind: the edge and the router refuse by status.
const Problem& problem_of(int status) {
  switch (status) {
    case 401: return problems::unauthenticated;
    case 403: return problems::permission_denied;
    case 404: return problems::not_found;
    case 405: return problems::method_not_allowed;
    case 408: return problems::request_timeout;
    case 409: return problems::conflict;
    case 412: return problems::quota_reached;
    case 413:
    case 414:
    case 431: return problems::too_large;
    case 429: return problems::rate_limited;
    case 500: return problems::internal;
    case 501: return problems::not_available;
    case 503: return problems::unavailable;
    default: return problems::invalid;
  }
}

}  // namespace

http::Response problem(const Problem& what, int status, std::string_view detail,
                       std::string_view request_id, const ProblemMembers& more) {
  http::Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  JsonWriter json(response.body);
  json.begin_object();
  json.field("type", std::string(problem_type_prefix).append(what.code));
  json.field("title", what.title);
  json.field("status", status);
  json.field("detail", detail);
  json.field("code", what.code);
  json.field("request_id", request_id);
  if (more) {
    more(json);
  }
  json.end_object();
  return response;
}

http::Response problem(int status, std::string_view detail, std::string_view request_id) {
  return problem(problem_of(status), status, detail, request_id);
}

http::Response problem(const Error& error, std::string_view request_id) {
  const Problem& what = problem_of(error.kind);
  const int status = http_status(error.kind);
  if (status == 500) {
    observe::log(observe::Level::error, "api.internal_error",
                 {{"error", error.message}, {"request_id", request_id}});
    return problem(what, status, "internal error; see the log of the server", request_id);
  }
  http::Response response = problem(what, status, error.message, request_id);
  add_error_fields(response, error.kind);
  return response;
}

}  // namespace hk::api
