#include "base/json_input.h"

#include <exception>
#include <string>

namespace hk {

namespace {

Result<boost::json::value> parse(std::string_view text, boost::json::storage_ptr memory,
                                 std::size_t depth_max) {
  boost::json::parse_options bounds;
  bounds.max_depth = depth_max;
  try {
    boost::json::error_code failed;
    boost::json::value value = boost::json::parse(
        boost::json::string_view(text.data(), text.size()), failed, std::move(memory), bounds);
    if (failed) {
      return fail(ErrorKind::invalid_argument, "the body is not valid JSON: " + failed.message());
    }
    return value;
  } catch (const std::exception& thrown) {
    return fail(ErrorKind::internal, thrown.what());
  }
}

}  // namespace

Result<boost::json::object> parse_json_object(std::string_view text, std::size_t bytes_max,
                                              std::size_t depth_max) {
  if (text.size() > bytes_max) {
    return fail(ErrorKind::invalid_argument,
                "the JSON body is larger than " + std::to_string(bytes_max / 1024) + " KiB");
  }
  Result<boost::json::value> value = parse(text, {}, depth_max);
  if (!value) {
    return std::unexpected(value.error());
  }
  if (!value->is_object()) {
    return fail(ErrorKind::invalid_argument, "the body must be a JSON object");
  }
  return std::move(value->get_object());
}

Result<boost::json::array> parse_json_array(std::string_view text) {
  // Freed as a whole: a large array has very many small parts.
  Result<boost::json::value> value = parse(
      text, boost::json::make_shared_resource<boost::json::monotonic_resource>(), json_depth_max);
  if (!value) {
    return std::unexpected(value.error());
  }
  if (!value->is_array()) {
    return fail(ErrorKind::invalid_argument, "the body must be a JSON array");
  }
  return std::move(value->get_array());
}

Result<std::string> text_member(const boost::json::object& object, std::string_view name,
                                std::string_view where) {
  const boost::json::value* const value = member(object, name);
  if (value == nullptr) {
    return std::string{};
  }
  if (!value->is_string()) {
    return fail(ErrorKind::invalid_argument,
                std::string(where) + std::string(name) + " must be a string");
  }
  return std::string(value->get_string().data(), value->get_string().size());
}

}  // namespace hk
