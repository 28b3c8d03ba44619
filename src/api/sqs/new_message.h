/// A message for a queue that is pulled from, whichever protocol brings it: what is checked of it,
/// and the command that accepts it. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/aws/errors.h"
#include "api/aws/message_attributes.h"
#include "core/command.h"

namespace hk::api::sqs {

struct NewMessage {
  std::string body{};
  std::optional<std::string> group{};
  std::optional<std::string> dedup_id{};
  bool dedup_by_content = false;  ///< as if the queue said so
  std::optional<Millis> delay{};  ///< the queue's otherwise
  std::string sender{};           ///< what receivers see as SenderId
  std::string trace_header{};     ///< AWSTraceHeader; "" = none
  std::string caller_ip{};
};

/// What the sender calls them: errors name them so.
struct NewMessageNames {
  std::string_view group = "MessageGroupId";
  std::string_view dedup_id = "MessageDeduplicationId";
  std::string_view delay = "DelaySeconds";
};

/// The longest delay of a message in this queue.
Millis delay_max(const core::Queue& queue);

/// missing_parameter, invalid_message_contents, invalid_parameter_value: what of it cannot be.
/// REQUIRES: queue.pull; the delay is at most delay_max().
aws::Checked<core::Publish> make_publish(const core::Queue& queue, NewMessage given,
                                         const aws::MessageAttributes& attributes,
                                         const NewMessageNames& names = {});

}  // namespace hk::api::sqs
