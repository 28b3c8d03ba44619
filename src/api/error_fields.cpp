#include "api/error_fields.h"

namespace hk::api {

void add_error_fields(http::Response& response, ErrorKind kind) {
  if (kind == ErrorKind::unavailable || kind == ErrorKind::limit_exceeded) {
    response.fields.push_back({"Retry-After", "1"});
  }
  if (kind == ErrorKind::unknown_outcome) {
    response.fields.push_back({"Hikyaku-Outcome", "unknown"});
  }
  if (kind == ErrorKind::unauthenticated) {
    response.fields.push_back({"WWW-Authenticate", "Bearer"});
  }
}

}  // namespace hk::api
