/// Bulk actions: the tasks of the core that cancel messages, as clients see them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hk::api::qstash {

std::string bulk_action_id(std::uint64_t number);
/// nullopt: none of ours looks like that.
std::optional<std::uint64_t> parse_bulk_action_id(std::string_view id);

}  // namespace hk::api::qstash
