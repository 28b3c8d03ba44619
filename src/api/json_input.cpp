#include "api/json_input.h"

#include <exception>

namespace hk::api {

Result<boost::json::object> parse_json_object(std::string_view text) {
  if (text.size() > json_bytes_max) {
    return fail(ErrorKind::invalid_argument, "the JSON body is larger than 1 MiB");
  }
  boost::json::parse_options bounds;
  bounds.max_depth = json_depth_max;
  try {
    boost::json::error_code failed;
    boost::json::value value =
        boost::json::parse(boost::json::string_view(text.data(), text.size()), failed, {}, bounds);
    if (failed) {
      return fail(ErrorKind::invalid_argument, "the body is not valid JSON: " + failed.message());
    }
    if (!value.is_object()) {
      return fail(ErrorKind::invalid_argument, "the body must be a JSON object");
    }
    return std::move(value.get_object());
  } catch (const std::exception& thrown) {
    return fail(ErrorKind::internal, thrown.what());
  }
}

}  // namespace hk::api
