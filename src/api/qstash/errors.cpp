#include "api/qstash/errors.h"

#include "api/error_fields.h"
#include "base/json.h"
#include "observe/log.h"

namespace hk::api::qstash {

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
    return error_response(status, "internal error; see the log of the server");
  }
  http::Response response = error_response(status, error.message);
  add_error_fields(response, error.kind);
  return response;
}

}  // namespace hk::api::qstash
