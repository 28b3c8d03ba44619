// The actions of SNS, and the path that its receivers verify signatures with.
#include <array>

#include "api/aws/action.h"
#include "api/route.h"
#include "api/sns/actions.h"

namespace hk::api::sns {

namespace {

using aws::ActionRow;

// clang-format off
constexpr std::array sns_actions = {
    ActionRow{"Publish", publish, {.messages_max = 1}},
    ActionRow{"PublishBatch", publish_batch, {.messages_max = 10}},
    ActionRow{"CreateTopic", create_topic},
    ActionRow{"DeleteTopic", delete_topic},
    ActionRow{"ListTopics", list_topics},
    ActionRow{"GetTopicAttributes", get_topic_attributes},
    ActionRow{"SetTopicAttributes", set_topic_attributes},
    ActionRow{"Subscribe", subscribe},
    ActionRow{"ConfirmSubscription", confirm_subscription, {.link = "TopicArn"}},
    ActionRow{"Unsubscribe", unsubscribe, {.link = "SubscriptionArn"}},
    ActionRow{"ListSubscriptions", list_subscriptions},
    ActionRow{"ListSubscriptionsByTopic", list_subscriptions_by_topic},
    ActionRow{"GetSubscriptionAttributes", get_subscription_attributes},
    ActionRow{"SetSubscriptionAttributes", set_subscription_attributes},
    ActionRow{"TagResource", tag_resource},
    ActionRow{"UntagResource", untag_resource},
    ActionRow{"ListTagsForResource", list_tags_for_resource},
};

constexpr std::array sns_routes = {
    Route{"GET", "/sns/certificate.pem", Access::open, get_certificate,
          {.tag = "keys", .summary = "Certificate that verifies the signatures of SNS messages"}},
};
// clang-format on

}  // namespace

std::span<const ActionRow> actions() { return sns_actions; }

RouteTable routes() { return {Surface::own, sns_routes}; }

}  // namespace hk::api::sns
