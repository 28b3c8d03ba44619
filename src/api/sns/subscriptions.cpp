// Subscriptions that are there: listed, shown, changed.
#include "api/sns/actions.h"
#include "api/sns/attributes.h"
#include "api/sns/change_topic.h"

namespace hk::api::sns {

namespace {

constexpr char behind_all_ids = '~';

struct Shown {
  std::string topic_arn{};
  std::string topic{};
  Subscription subscription{};
};

/// Those of the topic behind that id, up to one more than a page has.
void add(const Exchange& exchange, const Topic& topic, std::string_view after,
         std::vector<Shown>& all) {
  for (auto at = topic.subscriptions.upper_bound(after);
       at != topic.subscriptions.end() && all.size() <= page_size; ++at) {
    if (!core::lapsed(at->second, exchange.services.now())) {
      all.push_back({arn_of(exchange, topic), topic.name, at->second});
    }
  }
}

/// `next`: where the next page begins unless this one is full; "": there is none then.
/// `with_topic`: that of a full page says which topic it is in.
void send_page(Exchange& exchange, std::vector<Shown> all, bool with_topic, std::string next = {}) {
  if (all.size() > page_size) {
    all.pop_back();
    const Shown& last = all.back();
    next = with_topic ? last.topic + ':' + last.subscription.id : last.subscription.id;
  }
  exchange.succeed([&](aws::Output& out) {
    out.list("Subscriptions", all, [&](aws::Output& item, const Shown& one) {
      item.text("SubscriptionArn", one.subscription.confirmed
                                       ? one.topic_arn + ':' + one.subscription.id
                                       : std::string("PendingConfirmation"));
      item.text("Owner", exchange.account);
      item.text("Protocol", one.subscription.protocol);
      item.text("Endpoint", one.subscription.endpoint);
      item.text("TopicArn", one.topic_arn);
    });
    if (!next.empty()) {
      out.text("NextToken", to_token(next));
    }
  });
}

}  // namespace

void list_subscriptions(const ExchangePtr& exchange, aws::Input& input) {
  const auto place = page_begin(*exchange, input);
  if (!place) {
    return;
  }
  std::vector<Shown> all;
  std::string topic = place->substr(0, place->find(':'));
  if (const auto begun = topic.empty() ? nullptr : find_topic(*exchange, topic)) {
    const std::size_t id_at = std::min(place->size(), topic.size() + 1);
    add(*exchange, *begun, std::string_view(*place).substr(id_at), all);
  }
  TopicScan scan(*exchange, topic);
  while (all.size() <= page_size) {
    const core::Topic* const next = scan.next();
    if (next == nullptr) {
      break;
    }
    add(*exchange, from_record(*next), "", all);
    topic = next->name;
  }
  send_page(*exchange, std::move(all), true,
            scan.ended() ? std::string() : topic + ':' + behind_all_ids);
}

void list_subscriptions_by_topic(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  const auto after = page_begin(*exchange, input);
  if (!after) {
    return;
  }
  if (const auto topic = topic_of(*exchange, "TopicArn", arn)) {
    std::vector<Shown> all;
    add(*exchange, *topic, *after, all);
    send_page(*exchange, std::move(all), false);
  }
}

void get_subscription_attributes(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("SubscriptionArn"));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto name = named_subscription(*exchange, arn);
  if (!name) {
    return;
  }
  const auto topic = find_topic(*exchange, name->topic);
  const auto found =
      topic ? topic->subscriptions.find(name->id) : decltype(topic->subscriptions.end()){};
  if (!topic || found == topic->subscriptions.end() ||
      core::lapsed(found->second, exchange->services.now())) {
    exchange->refuse(no_subscription());
    return;
  }
  exchange->succeed([&](aws::Output& out) {
    out.map("Attributes", attributes_of(*exchange, *topic, found->second));
  });
}

void set_subscription_attributes(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("SubscriptionArn"));
  const std::string name(input.required_text("AttributeName"));
  const std::string value(input.text("AttributeValue").value_or(""));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto which = named_subscription(*exchange, arn);
  if (!which) {
    return;
  }
  auto make = [exchange, which = *which, name,
               value](const Topic& topic) -> aws::Checked<std::optional<core::Command>> {
    const auto found = topic.subscriptions.find(which.id);
    if (found == topic.subscriptions.end()) {
      return std::unexpected(no_subscription());
    }
    Subscription changed = found->second;
    if (auto set = set_attribute(*exchange, topic, changed, name, value, false); !set) {
      return std::unexpected(set.error());
    }
    return core::SetSubscription{.tenant = exchange->tenant_id(),
                                 .topic = which.topic,
                                 .incarnation = topic.incarnation,
                                 .version = topic.version,
                                 .subscription = to_record(changed)};
  };
  change_topic(exchange, which->topic, {.make = std::move(make), .gone = no_subscription()});
}

}  // namespace hk::api::sns
