/// What SNS is asked for: topics that feed queues and endpoints. Called by the gateway, which has
/// verified who asks, on the I/O thread of the request; each answers its exchange once.
#pragma once

#include <string_view>

#include "api/sns/topic.h"

namespace hk::api::sns {

/// For a link in a message that was delivered: whose it is stands in it. False: in none, or in that
/// of nobody.
bool enter_by_link(Exchange& exchange, std::string_view arn);

/// GET /sns/certificate.pem: verifies what was delivered.
void get_certificate(const Services& services, Call& call);

// topics.cpp
void create_topic(const ExchangePtr& exchange, aws::Input& input);
void delete_topic(const ExchangePtr& exchange, aws::Input& input);
void list_topics(const ExchangePtr& exchange, aws::Input& input);
void get_topic_attributes(const ExchangePtr& exchange, aws::Input& input);
void set_topic_attributes(const ExchangePtr& exchange, aws::Input& input);
// tags.cpp
void tag_resource(const ExchangePtr& exchange, aws::Input& input);
void untag_resource(const ExchangePtr& exchange, aws::Input& input);
void list_tags_for_resource(const ExchangePtr& exchange, aws::Input& input);
// subscribe.cpp
void subscribe(const ExchangePtr& exchange, aws::Input& input);
void confirm_subscription(const ExchangePtr& exchange, aws::Input& input);
void unsubscribe(const ExchangePtr& exchange, aws::Input& input);
// subscriptions.cpp
void list_subscriptions(const ExchangePtr& exchange, aws::Input& input);
void list_subscriptions_by_topic(const ExchangePtr& exchange, aws::Input& input);
void get_subscription_attributes(const ExchangePtr& exchange, aws::Input& input);
void set_subscription_attributes(const ExchangePtr& exchange, aws::Input& input);
// publish.cpp
void publish(const ExchangePtr& exchange, aws::Input& input);
void publish_batch(const ExchangePtr& exchange, aws::Input& input);

/// NextToken, as to_token() made it: the place behind which a page begins; "" for the first page.
/// nullopt: there is something wrong in the input, and it has been refused.
std::optional<std::string> page_begin(Exchange& exchange, aws::Input& input);
std::string to_token(std::string_view place);

/// What an ARN names, whether it is there or not; nullopt: that has been refused.
std::optional<std::string> named_topic(Exchange& exchange, std::string_view parameter,
                                       std::string_view arn);
std::optional<SubscriptionName> named_subscription(Exchange& exchange, std::string_view arn);
/// The topic that the parameter names; null: that has been refused.
std::shared_ptr<const Topic> topic_of(Exchange& exchange, std::string_view parameter,
                                      std::string_view arn);

}  // namespace hk::api::sns
