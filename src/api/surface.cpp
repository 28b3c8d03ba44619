#include "api/surface.h"

#include <utility>

#include "api/jobs/problem.h"
#include "api/qstash/errors.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api {

Surface surface_of(std::string_view target) {
  return starts_with_ignoring_case(target, "/api/") ? Surface::own : Surface::qstash;
}

std::string_view nothing_at(std::string_view target) {
  for (const std::string_view prefix : {"/v2/workflows", "/v2/wait", "/v2/notify"}) {
    if (starts_with_ignoring_case(target, prefix)) {
      return "workflows are another product of the hosted service and out of scope here";
    }
  }
  if (starts_with_ignoring_case(target, "/llm/") || starts_with_ignoring_case(target, "/v2/llm")) {
    return "the LLM API of the hosted service is out of scope here: publish to the URL of the "
           "provider instead";
  }
  if (starts_with_ignoring_case(target, "/v1/")) {
    return "version 1 of the API is out of scope here: use /v2";
  }
  return "there is nothing at this path";
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
