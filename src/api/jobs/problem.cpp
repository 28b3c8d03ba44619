#include "api/jobs/problem.h"

#include "api/error_fields.h"
#include "base/json.h"
#include "observe/log.h"

namespace hk::api::jobs {

http::Response problem(int status, std::string_view detail) {
  http::Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  JsonWriter json(response.body);
  json.begin_object();
  json.field("type", "about:blank");
  json.field("title", http::reason_phrase(status));
  json.field("status", status);
  json.field("detail", detail);
  json.end_object();
  return response;
}

http::Response problem(const Error& error) {
  const int status = http_status(error.kind);
  if (status == 500) {
    observe::log(observe::Level::error, "api.internal_error", {{"error", error.message}});
    return problem(status, "the server could not do this; its log says why");
  }
  http::Response response = problem(status, error.message);
  add_error_fields(response, error.kind);
  return response;
}

}  // namespace hk::api::jobs
