/// What every batch must be before its queue is looked up: 1 to 10 entries with ids of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sqs/exchange.h"

namespace hk::api::sqs {

/// The ids of the entries. nullopt: it has been refused.
std::optional<std::vector<std::string>> batch_ids(Exchange& exchange, aws::Input& input,
                                                  std::vector<aws::Input>& entries);

}  // namespace hk::api::sqs
