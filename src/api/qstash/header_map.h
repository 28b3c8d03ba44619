/// Headers as JSON gives them: an object of names with a text, or a list of texts, each. For .cpp
/// files of this folder only: it shows Boost.JSON. Pure, any thread.
#pragma once

#include <vector>

#include "base/json_input.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

/// As a request would carry them: values trimmed, several values as several fields. null: none.
/// invalid_argument: another shape, or a value that no header can have.
Result<std::vector<net::Field>> read_header_map(const boost::json::value* map);

}  // namespace hk::api::qstash
