/// Messages to subscribers over HTTP: ordinary messages that are pushed, with the headers that SNS
/// has. On I/O threads.
#pragma once

#include "api/sns/topic.h"
#include "core/command.h"

namespace hk::api::sns {

enum class HttpMessage : std::uint8_t { confirmation, notification, raw_notification };

/// invalid_argument: its endpoint is no URL.
Result<core::Publish> to_subscriber(const Exchange& exchange, const Topic& topic,
                                    const Subscription& subscription, HttpMessage kind,
                                    std::string_view message_id, std::string body);

}  // namespace hk::api::sns
