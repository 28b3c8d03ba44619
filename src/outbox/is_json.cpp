#include "outbox/is_json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <exception>

namespace hk::outbox {
namespace {

namespace json = boost::json;

/// Wants to know nothing but whether it is JSON: no tree is built.
struct Ignore {
  using Error = json::error_code;
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  static bool on_document_begin(Error&) { return true; }
  static bool on_document_end(Error&) { return true; }
  static bool on_object_begin(Error&) { return true; }
  static bool on_object_end(std::size_t, Error&) { return true; }
  static bool on_array_begin(Error&) { return true; }
  static bool on_array_end(std::size_t, Error&) { return true; }
  static bool on_key_part(json::string_view, std::size_t, Error&) { return true; }
  static bool on_key(json::string_view, std::size_t, Error&) { return true; }
  static bool on_string_part(json::string_view, std::size_t, Error&) { return true; }
  static bool on_string(json::string_view, std::size_t, Error&) { return true; }
  static bool on_number_part(json::string_view, Error&) { return true; }
  static bool on_int64(std::int64_t, json::string_view, Error&) { return true; }
  static bool on_uint64(std::uint64_t, json::string_view, Error&) { return true; }
  static bool on_double(double, json::string_view, Error&) { return true; }
  static bool on_bool(bool, Error&) { return true; }
  static bool on_null(Error&) { return true; }
  static bool on_comment_part(json::string_view, Error&) { return true; }
  static bool on_comment(json::string_view, Error&) { return true; }
};

}  // namespace

bool is_json(std::string_view text, std::size_t depth_max) {
  json::parse_options bounds;
  bounds.max_depth = depth_max;
  try {
    json::basic_parser<Ignore> parser(bounds);
    json::error_code failed;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), failed);
    return !failed && used == text.size();
  } catch (const std::exception&) {  // the library's own limits
    return false;
  }
}

}  // namespace hk::outbox
