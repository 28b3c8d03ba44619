/// Queue attributes as clients name them, to and from the settings of a queue. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/aws/errors.h"
#include "api/aws/input.h"
#include "api/sqs/exchange.h"
#include "core/record.h"

namespace hk::api::sqs {

/// Changes `settings` by what is given; all of it or nothing. invalid_attribute_name: unknown,
/// read-only, or of the other kind of queue; invalid_attribute_value: out of range;
/// invalid_parameter_value: a policy for dead letters that cannot be; over_limit: a policy that is
/// too long.
aws::Checked<void> apply_attributes(const Exchange& exchange, const std::string& queue,
                                    const aws::TextMap& given, bool creating,
                                    core::PullSettings& settings);

/// "" takes it away. over_limit: it is too long to be kept.
aws::Checked<void> set_policy(core::PullSettings& settings, std::string_view text);

/// Whether the queue has this value of the attribute, be it set or by default, in whatever
/// spelling.
bool has_attribute(const Exchange& exchange, const core::Queue& queue, const std::string& name,
                   const std::string& value);

/// What is asked for by names; "All" for all. invalid_attribute_name: unknown.
aws::Checked<aws::TextMap> read_attributes(const Exchange& exchange, const core::Queue& queue,
                                           const core::QueueCounted& counted,
                                           const std::vector<std::string>& names);

}  // namespace hk::api::sqs
