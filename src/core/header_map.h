/// Headers as JSON shows them: canonical names, each with the list of its values. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/message.h"

namespace hk::core {

/// "content-type" -> "Content-Type".
std::string canonical_header_name(std::string_view name);

/// "name": {"Canonical-Name": ["value", …], …}, in the order of first appearance.
void write_header_map(JsonWriter& json, std::string_view name, const std::vector<Header>& headers);

}  // namespace hk::core
