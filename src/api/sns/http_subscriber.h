/// Messages to subscribers over HTTP: ordinary messages that are pushed, with the headers that SNS
/// has. On I/O threads.
#pragma once

#include "api/sns/topic.h"
#include "core/command.h"

namespace hk::api::sns {

/// Of an attempt.
Millis notification_timeout(const Exchange& exchange);

/// Of a notification. `message_id`: "" = the core's.
std::vector<core::FormHeader> notification_headers(const std::string& topic_arn,
                                                   const std::string& message_id);

/// The request to confirm a subscription, but for what the core adds: where it goes.
std::unique_ptr<core::Message> invitation(const Exchange& exchange, const std::string& topic_arn,
                                          const std::string& message_id, std::string body);

}  // namespace hk::api::sns
