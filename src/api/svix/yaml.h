/// One YAML document as JSON, by the core schema of YAML 1.2. For .cpp files only: it shows
/// Boost.JSON. Any thread.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/error.h"

namespace hk::api::svix {

/// invalid_argument: it is no YAML, a key is no scalar, or it is too deep or too large; aliases
/// stand for at most 1000 copies.
Result<boost::json::value> parse_yaml(std::string_view text);

}  // namespace hk::api::svix
