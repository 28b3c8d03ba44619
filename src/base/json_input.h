/// Reading JSON that came from outside: bounded in size and depth, errors as values. For .cpp files
/// only: it shows Boost.JSON. Any thread.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/error.h"

namespace hk {

inline constexpr std::size_t json_bytes_max = std::size_t{1024} * 1024;
inline constexpr std::size_t json_depth_max = 16;

/// invalid_argument: not JSON, not an object, too deep or too large.
Result<boost::json::object> parse_json_object(std::string_view text,
                                              std::size_t bytes_max = json_bytes_max,
                                              std::size_t depth_max = json_depth_max);
/// However large: the caller has bounded it. invalid_argument: not JSON, not an array, too deep.
Result<boost::json::array> parse_json_array(std::string_view text);

inline std::string_view view(boost::json::string_view text) { return {text.data(), text.size()}; }

/// The member, unless it is absent or null.
inline const boost::json::value* member(const boost::json::object& object, std::string_view name) {
  const auto* const found = object.if_contains(boost::json::string_view(name.data(), name.size()));
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// Its text; "" if it is absent or null. invalid_argument, beginning with `where`: not a text.
Result<std::string> text_member(const boost::json::object& object, std::string_view name,
                                std::string_view where = {});

}  // namespace hk
