/// What a queue keeps for its clients and the core does not read: attributes by their names. Pure,
/// any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/record.h"

namespace hk::api::sqs {

/// "" = it is not set.
std::string find_extra(const core::PullSettings& settings, std::string_view name);
/// "" takes it away.
void set_extra(core::PullSettings& settings, std::string_view name, std::string_view value);

/// Delays and retention of up to extended_max.
bool has_extended_limits(const core::PullSettings& settings);
inline constexpr std::chrono::seconds extended_max = std::chrono::days{3650};

}  // namespace hk::api::sqs
