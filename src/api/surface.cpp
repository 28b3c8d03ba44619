#include "api/surface.h"

#include <utility>

#include "api/jobs/problem.h"
#include "api/qstash/errors.h"
#include "api/text.h"

namespace hk::api {

Surface surface_of(std::string_view target) {
  return starts_with_ignoring_case(target, "/api/") ? Surface::own : Surface::qstash;
}

http::Response error_for(Surface surface, const Error& error) {
  switch (surface) {
    case Surface::qstash: return qstash::error_response(error);
    case Surface::own: return jobs::problem(error);
  }
  std::unreachable();
}

http::Response error_for(Surface surface, int status, std::string_view text) {
  switch (surface) {
    case Surface::qstash: return qstash::error_response(status, text);
    case Surface::own: return jobs::problem(status, text);
  }
  std::unreachable();
}

}  // namespace hk::api
