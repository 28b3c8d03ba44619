// How a subscription begins and ends: Subscribe, ConfirmSubscription, Unsubscribe.
#include <algorithm>

#include "api/aws/names.h"
#include "api/reply.h"
#include "api/sns/actions.h"
#include "api/sns/attributes.h"
#include "api/sns/change_topic.h"
#include "api/sns/http_subscriber.h"
#include "api/sns/signing_key.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/date.h"
#include "base/encoding.h"
#include "security/credentials.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

constexpr std::size_t endpoint_bytes_max = 2'048;

std::string make_token() {
  std::string bytes(32, '\0');
  security::fill_random(bytes.data(), bytes.size());
  return hex(bytes);
}

Checked<void> check_endpoint(const Exchange& exchange, const Topic& topic, Subscription& wanted) {
  const auto wrong = [](std::string_view reason) {
    return std::unexpected(invalid("Endpoint", reason));
  };
  if (wanted.protocol == "sqs") {
    const auto arn = aws::parse_arn(wanted.endpoint);
    if (!arn || arn->service != "sqs" || !aws::valid_queue_name(arn->resource)) {
      return wrong("for the protocol sqs it must be the ARN of a queue");
    }
    if (arn->account != exchange.account) {
      return wrong("the queue must be of the same account");
    }
    if (aws::is_fifo_name(arn->resource) && !topic.fifo()) {
      return wrong("a FIFO queue can be subscribed to a FIFO topic only");
    }
    return {};
  }
  if (wanted.protocol != "http" && wanted.protocol != "https") {
    return std::unexpected(invalid("Protocol", "it must be sqs, http or https"));
  }
  if (wanted.endpoint.size() > endpoint_bytes_max ||
      !starts_with_ignoring_case(wanted.endpoint, wanted.protocol + "://")) {
    return wrong("it must be a URL of the scheme " + wanted.protocol);
  }
  auto host = exchange.services.options.check_destination(wanted.endpoint);
  if (!host) {
    return wrong(host.error().message);
  }
  wanted.host = std::move(*host);
  return {};
}

/// What was asked for, compared with the subscription that is there.
bool differs(const Subscription& there, const Subscription& wanted, const aws::TextMap& given) {
  return std::ranges::any_of(given, [&](const auto& one) {
    const auto value = [&](const Subscription& of) -> std::string_view {
      const auto found = of.attributes.find(one.first);
      if (found != of.attributes.end()) {
        return found->second;
      }
      return one.first == "RawMessageDelivery"  ? "false"
             : one.first == "FilterPolicyScope" ? "MessageAttributes"
                                                : "";
    };
    return value(there) != value(wanted);
  });
}

/// What Subscribe was asked for.
struct Subscribing {
  ExchangePtr exchange{};
  std::string topic{};
  std::string protocol{};
  std::string endpoint{};
  aws::TextMap attributes{};
  bool wants_arn = false;
};
using SubscribingPtr = std::shared_ptr<Subscribing>;

void tell(Exchange& exchange, const core::Subscribed& subscribed, bool wants_arn) {
  const Topic topic = from_record(subscribed.topic->topic);
  const Subscription& subscription = topic.subscriptions.at(subscribed.id);
  exchange.succeed([&](aws::Output& out) {
    out.text("SubscriptionArn", subscription.confirmed || wants_arn
                                    ? arn_of(exchange, topic, subscription)
                                    : std::string("pending confirmation"));
  });
}

void start(const SubscribingPtr& subscribing);

void submit(const SubscribingPtr& subscribing, core::Subscription subscription,
            std::unique_ptr<core::Message> invitation) {
  Exchange& exchange = *subscribing->exchange;
  core::Subscribe command{.tenant = exchange.tenant_id(),
                          .topic = subscribing->topic,
                          .subscription = std::move(subscription),
                          .invitation = std::move(invitation)};
  exchange.batcher.submit(std::move(command), [subscribing](const core::Reply& reply) {
    Exchange& asked = *subscribing->exchange;
    asked.guarded([&] {
      if (!reply && reply.error().kind == ErrorKind::conflict) {
        start(subscribing);
        return;
      }
      if (!reply) {
        asked.refuse(reply.error().kind == ErrorKind::not_found ? no_topic()
                                                                : change_refusal(reply.error()));
        return;
      }
      tell(asked, answer_of<core::Subscribed>(reply), subscribing->wants_arn);
    });
  });
}

/// What asks the endpoint whether it wants the messages of the topic.
std::unique_ptr<core::Message> invite(const Exchange& exchange, const Topic& topic,
                                      const std::string& token, const security::RsaKey& key) {
  const std::string arn = arn_of(exchange, topic);
  const Confirmation confirmation{
      .message_id = aws::make_uuid(exchange.batcher.rng()),
      .token = token,
      .topic_arn = arn,
      .message = "This endpoint is to receive the messages of the topic " + arn +
                 ". If that is right, open the SubscribeURL of this message.",
      .subscribe_url = subscribe_url(exchange.base_url, arn, token),
      .timestamp = rfc3339(exchange.services.now())};
  const std::string version =
      topic.has("SignatureVersion", "2") ? std::string("2") : std::string("1");
  const Signature signature = sign(key, version, text_to_sign(confirmation), exchange.base_url);
  return invitation(exchange, arn, confirmation.message_id, body_of(confirmation, signature));
}

/// The subscription of that protocol and destination that is there; null: there is none.
const Subscription* find_same(const Exchange& exchange, const Topic& topic,
                              const Subscription& wanted) {
  const core::Subscription record = to_record(wanted);
  const auto same = std::ranges::find_if(topic.subscriptions, [&](const auto& one) {
    return core::same_destination(to_record(one.second), record) &&
           !core::lapsed(one.second, exchange.services.now());
  });
  return same == topic.subscriptions.end() ? nullptr : &same->second;
}

/// What is to be there in the end; what is there already, if it is as asked for.
Checked<Subscription> make_wanted(const Exchange& exchange, const Topic& topic,
                                  const Subscribing& subscribing) {
  Subscription wanted{.protocol = subscribing.protocol, .endpoint = subscribing.endpoint};
  if (auto good = check_endpoint(exchange, topic, wanted); !good) {
    return std::unexpected(good.error());
  }
  if (auto set = set_attributes(exchange, topic, wanted, subscribing.attributes); !set) {
    return std::unexpected(set.error());
  }
  if (const Subscription* const same = find_same(exchange, topic, wanted)) {
    if (differs(*same, wanted, subscribing.attributes)) {
      return std::unexpected(
          invalid("Attributes", "Subscription already exists with different attributes"));
    }
    return *same;
  }
  wanted.id = aws::make_uuid(exchange.batcher.rng());
  wanted.token = wanted.protocol == "sqs" ? std::string() : make_token();
  return wanted;
}

void start(const SubscribingPtr& subscribing) {
  Exchange& exchange = *subscribing->exchange;
  const auto topic = find_topic(exchange, subscribing->topic);
  if (!topic) {
    exchange.refuse(no_topic());
    return;
  }
  const Checked<Subscription> wanted = make_wanted(exchange, *topic, *subscribing);
  if (!wanted) {
    exchange.refuse(wanted.error());
    return;
  }
  if (wanted->confirmed || wanted->token.empty()) {
    submit(subscribing, to_record(*wanted), nullptr);
    return;
  }
  with_signing_key(subscribing->exchange,
                   [subscribing, topic, wanted = *wanted](const security::RsaKey& key) {
                     submit(subscribing, to_record(wanted),
                            invite(*subscribing->exchange, *topic, wanted.token, key));
                   });
}

}  // namespace

void subscribe(const ExchangePtr& exchange, aws::Input& input) {
  const auto subscribing = std::make_shared<Subscribing>();  // shared by the tries
  const std::string arn(input.required_text("TopicArn"));
  subscribing->exchange = exchange;
  subscribing->protocol = input.required_text("Protocol");
  subscribing->endpoint = input.text("Endpoint").value_or("");
  subscribing->attributes = input.map("Attributes");
  subscribing->wants_arn = input.boolean("ReturnSubscriptionArn").value_or(false);
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  auto name = named_topic(*exchange, "TopicArn", arn);
  if (!name) {
    return;
  }
  subscribing->topic = std::move(*name);
  start(subscribing);
}

void confirm_subscription(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  const std::string token(input.required_text("Token"));
  const bool wants_authentication = input.boolean("AuthenticateOnUnsubscribe").value_or(false);
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  auto name = named_topic(*exchange, "TopicArn", arn);
  if (!name) {
    return;
  }
  core::ConfirmSubscription command{.tenant = exchange->tenant_id(),
                                    .topic = std::move(*name),
                                    .token = token,
                                    .by_owner = !exchange->access_key.empty(),
                                    .owner_ends_it = wants_authentication};
  exchange->batcher.submit(std::move(command), [exchange](const core::Reply& reply) {
    if (reply) {
      tell(*exchange, answer_of<core::Subscribed>(reply), true);
      return;
    }
    const Error& error = reply.error();
    exchange->refuse(error.kind == ErrorKind::not_found          ? no_topic()
                     : error.kind == ErrorKind::invalid_argument ? invalid("Token", error.message)
                                                                 : change_refusal(error));
  });
}

void unsubscribe(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("SubscriptionArn"));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  auto name = named_subscription(*exchange, arn);
  if (!name) {
    return;
  }
  core::Unsubscribe command{.tenant = exchange->tenant_id(),
                            .topic = std::move(name->topic),
                            .id = std::move(name->id),
                            .by_owner = !exchange->access_key.empty()};
  exchange->batcher.submit(std::move(command), [exchange](const core::Reply& reply) {
    if (reply) {
      exchange->succeed();
      return;
    }
    exchange->refuse(reply.error().kind == ErrorKind::permission_denied
                         ? aws::Refusal{aws::ErrorCode::sns_authorization_error,
                                        "To end this subscription the request must be signed."}
                         : change_refusal(reply.error()));
  });
}

}  // namespace hk::api::sns
