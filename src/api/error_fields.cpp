#include "api/error_fields.h"

#include <ctime>
#include <string>
#include <utility>

#include "api/shedding.h"

namespace hk::api {

namespace {
constexpr int retry_after_seconds = 1;
}

int http_status(ErrorKind kind) {
  switch (kind) {  // No default: a new kind must be answered here before it compiles.
    case ErrorKind::invalid_argument: return 400;
    case ErrorKind::unauthenticated: return 401;
    case ErrorKind::permission_denied: return 403;
    case ErrorKind::not_found: return 404;
    case ErrorKind::conflict: return 409;
    case ErrorKind::limit_exceeded: return 429;
    case ErrorKind::quota_reached: return 412;
    case ErrorKind::unavailable:
    case ErrorKind::unknown_outcome: return 503;
    case ErrorKind::corruption:
    case ErrorKind::internal: return 500;
  }
  std::unreachable();
}

void add_burst_fields(http::Response& response, const Burst& burst) {
  response.fields.push_back({"Retry-After", std::to_string(burst.retry_after)});
  response.fields.push_back({"Burst-RateLimit-Limit", std::to_string(burst.limit)});
  response.fields.push_back({"Burst-RateLimit-Remaining", std::to_string(burst.remaining)});
  response.fields.push_back(
      {"Burst-RateLimit-Reset", std::to_string(std::time(nullptr) + burst.retry_after)});
}

void add_error_fields(http::Response& response, ErrorKind kind) {
  if (kind == ErrorKind::unavailable) {
    response.fields.push_back({"Retry-After", std::to_string(retry_after_seconds)});
  }
  if (kind == ErrorKind::limit_exceeded) {
    add_burst_fields(response, {.limit = Shedding::kept_min, .retry_after = retry_after_seconds});
  }
  if (kind == ErrorKind::unknown_outcome) {
    response.fields.push_back({"Hikyaku-Outcome", "unknown"});
  }
  if (kind == ErrorKind::unauthenticated) {
    response.fields.push_back({"WWW-Authenticate", "Bearer"});
  }
}

}  // namespace hk::api
