/// Reads a topic, changes it and writes it back, as often as somebody else was faster. For actions
/// that change something; on their I/O thread.
#pragma once

#include <functional>

#include "api/sns/topic.h"

namespace hk::api::sns {

struct TopicChange {
  /// True: it is to be written. Called again, with the topic as it is then, when it was changed
  /// meanwhile.
  std::function<aws::Checked<bool>(Topic&)> change{};
  /// The change is durable, or there was nothing to write.
  std::function<void(const Topic&)> done{};
  /// There is no such topic. Empty: that is refused.
  std::function<void()> gone{};
};

/// Subscriptions that were not confirmed in time go by the way.
void change_topic(const ExchangePtr& exchange, const std::string& name, TopicChange change);

/// Writes it if the stored version is the topic's own. `then` is told whether it was.
/// sns_subscription_limit_exceeded: too many subscriptions, or too much in all. Everything else
/// that fails is refused here.
void put_topic(const ExchangePtr& exchange, const Topic& topic, std::function<void(bool)> then);

}  // namespace hk::api::sns
