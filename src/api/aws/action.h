/// The actions of SQS and SNS: one row each, in the routes.cpp of the service. Plain data, any
/// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "api/aws/dialect.h"
#include "core/tenant/limits.h"

namespace hk::api::sqs {
class Exchange;
}

namespace hk::api::aws {

class Input;

using ActionHandler = void (*)(const std::shared_ptr<sqs::Exchange>& exchange, Input& input);

/// What becomes of it while the server stops (intake.h).
enum class Work : std::uint8_t {
  ordinary,
  receive,  ///< hands messages out
  settle,   ///< ends the work on messages that were handed out
};

struct ActionTraits {
  Work work = Work::ordinary;
  bool at_queue = true;           ///< may be sent to a queue's own address
  std::uint8_t messages_max = 0;  ///< that it publishes; 0: it publishes none
  /// Not empty: also works without a signature, as a link in a message that SNS delivered. This
  /// parameter names whose it is.
  std::string_view link = {};
};

struct ActionRow {
  std::string_view name;
  ActionHandler handler;
  ActionTraits traits = {};
};

/// What a request for it is charged as. nullopt: it is never limited.
std::optional<core::RateClass> rate_class(const ActionRow& row);

/// null: the service has no such action.
const ActionRow* find_action(Dialect dialect, std::string_view name);

}  // namespace hk::api::aws

namespace hk::api::sqs {
std::span<const aws::ActionRow> actions();
}
namespace hk::api::sns {
std::span<const aws::ActionRow> actions();
}
