/// Reading what is published to a topic, and its rules. Pure; on the I/O thread of the request.
#pragma once

#include "api/sns/fan_out.h"

namespace hk::api::sns {

inline constexpr std::size_t message_bytes_max = 262'144;  ///< of a message, and of a batch

/// `entry` is the request, or one of a batch. sns_invalid_parameter; sns_parameter_value_invalid:
/// its attributes.
aws::Checked<Incoming> read_incoming(const Topic& topic, aws::Input& entry);

/// FIFO topics: what every message of a batch must have, or the whole batch is refused.
aws::Checked<void> check_fifo(const Topic& topic, aws::Input& entry);

/// Of 20 digits as text; rises from one to the next, across restarts, too. Any thread.
std::uint64_t next_sequence_number(Moment now);

}  // namespace hk::api::sns
