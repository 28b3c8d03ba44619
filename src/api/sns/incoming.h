/// Reading what is published to a topic, and its rules. Pure; on the I/O thread of the request.
#pragma once

#include <optional>
#include <string>

#include "api/aws/message_attributes.h"
#include "api/sns/topic.h"

namespace hk::api::sns {

/// What was published, checked.
struct Incoming {
  std::string message{};
  /// MessageStructure json: texts by protocol; each has "default". Empty: all get the message.
  aws::TextMap by_protocol{};
  std::optional<std::string> subject{};
  aws::MessageAttributes attributes{};
  std::string group{};     ///< "" = none
  std::string dedup_id{};  ///< given or computed; "" on standard topics
};

inline constexpr std::size_t message_bytes_max = 262'144;  ///< of a message, and of a batch

/// `entry` is the request, or one of a batch. sns_invalid_parameter; sns_parameter_value_invalid:
/// its attributes.
aws::Checked<Incoming> read_incoming(const Topic& topic, aws::Input& entry);

/// FIFO topics: what every message of a batch must have, or the whole batch is refused.
aws::Checked<void> check_fifo(const Topic& topic, aws::Input& entry);

}  // namespace hk::api::sns
