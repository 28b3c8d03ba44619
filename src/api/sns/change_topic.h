/// Reads a topic and changes what is set of it or of a subscription, as often as somebody else was
/// faster. For actions that change something; on their I/O thread.
#pragma once

#include <functional>
#include <optional>

#include "api/sns/topic.h"
#include "core/command.h"

namespace hk::api::sns {

struct TopicChange {
  /// What makes the change; nothing: it is so already. Called again, with the topic as it is then,
  /// when it was changed meanwhile.
  std::function<aws::Checked<std::optional<core::Command>>(const Topic&)> make{};
  aws::Refusal gone{};  ///< there is no such topic, or it has no such subscription
};

/// Answers the exchange.
void change_topic(const ExchangePtr& exchange, const std::string& name, TopicChange change);

/// What the core said of a change. sns_subscription_limit_exceeded: too many subscriptions, or too
/// much in all.
aws::Refusal change_refusal(const Error& error);

}  // namespace hk::api::sns
