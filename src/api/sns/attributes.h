/// Which attributes topics and subscriptions have, what may be set, and what is told of them. Pure;
/// used by the actions on I/O threads.
#pragma once

#include "api/sns/topic.h"

namespace hk::api::sns {

/// Topics or subscriptions in one answer.
inline constexpr std::size_t page_size = 100;

/// sns_invalid_parameter: no such attribute, not to be set, not a value of it. `creating`: also
/// what can be set then only.
aws::Checked<void> set_attribute(Topic& topic, const std::string& name, const std::string& value,
                                 bool creating);
/// All of them, as GetTopicAttributes tells them.
aws::TextMap attributes_of(const Exchange& exchange, const Topic& topic);
/// What an attribute that was not set counts as.
std::string_view default_of(std::string_view topic_attribute);

/// The same for subscriptions. `subscribing` changes how a bad filter policy is told.
aws::Checked<void> set_attribute(const Exchange& exchange, const Topic& topic,
                                 Subscription& subscription, const std::string& name,
                                 const std::string& value, bool subscribing);
/// How a filter policy that does not parse is told: by Subscribe, or by SetSubscriptionAttributes.
aws::Refusal filter_policy_refusal(const Error& error, bool subscribing);
/// All of them, in an order in which each can be judged.
aws::Checked<void> set_attributes(const Exchange& exchange, const Topic& topic,
                                  Subscription& subscription, const aws::TextMap& attributes);
aws::TextMap attributes_of(const Exchange& exchange, const Topic& topic,
                           const Subscription& subscription);

/// invalid_parameter: too many, one that is too long, or what is no text.
aws::Checked<void> set_tags(Topic& topic, const aws::TextMap& tags);

}  // namespace hk::api::sns
