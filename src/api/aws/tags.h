/// Tags of queues and topics: what may be one. Pure, any thread.
#pragma once

#include <string_view>

#include "api/aws/input.h"
#include "base/error.h"

namespace hk::api::aws {

inline constexpr std::size_t tags_max = 50;

/// How many characters a text of UTF-8 has; of what is not UTF-8, each byte counts.
std::size_t characters(std::string_view text);

/// invalid_argument, with the rule: more than tags_max, a key or value that is too long or has
/// characters that are not allowed.
Result<void> check_tags(const TextMap& tags);

}  // namespace hk::api::aws
