// How a subscription begins and ends: Subscribe, ConfirmSubscription, Unsubscribe.
#include <algorithm>

#include "api/aws/names.h"
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
#include "security/digest.h"

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

/// The one with the same protocol and endpoint, or end().
auto find_same(Topic& topic, const Subscription& wanted) {
  return std::ranges::find_if(topic.subscriptions, [&](const auto& one) {
    return one.second.protocol == wanted.protocol && one.second.endpoint == wanted.endpoint;
  });
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

/// What Subscribe was asked for, and what came of it.
struct Subscribing {
  Subscription wanted{};
  aws::TextMap attributes{};
  bool wants_arn = false;
  std::string id{};  ///< of the subscription that there is now
};

Checked<bool> enter(const Exchange& exchange, Topic& topic, Subscribing& subscribing) {
  Subscription wanted = subscribing.wanted;
  if (auto good = check_endpoint(exchange, topic, wanted); !good) {
    return std::unexpected(good.error());
  }
  if (auto set = set_attributes(exchange, topic, wanted, subscribing.attributes); !set) {
    return std::unexpected(set.error());
  }
  const auto same = find_same(topic, wanted);
  if (same != topic.subscriptions.end()) {
    if (differs(same->second, wanted, subscribing.attributes)) {
      return std::unexpected(
          invalid("Attributes", "Subscription already exists with different attributes"));
    }
    subscribing.id = same->first;
    return false;
  }
  wanted.id = aws::make_uuid(exchange.batcher.rng());
  if (wanted.protocol == "sqs") {
    wanted.confirmed = true;
    wanted.authenticated = true;
  } else {
    wanted.token = make_token();
    wanted.token_made = exchange.services.now();
  }
  subscribing.id = wanted.id;
  topic.subscriptions.emplace(wanted.id, std::move(wanted));
  return true;
}

void tell(const ExchangePtr& exchange, const Topic& topic, const Subscription& subscription,
          bool wants_arn) {
  exchange->succeed([&](aws::Output& out) {
    out.text("SubscriptionArn", subscription.confirmed || wants_arn
                                    ? arn_of(*exchange, topic, subscription)
                                    : std::string("pending confirmation"));
  });
}

/// Asks the endpoint whether it wants the messages. The subscription is durable before: an answer
/// that comes at once finds it.
void ask_to_confirm(const ExchangePtr& exchange, const Topic& topic,
                    const Subscription& subscription, bool wants_arn) {
  with_signing_key(exchange, [exchange, topic, subscription,
                              wants_arn](const security::RsaKey& key) {
    const std::string arn = arn_of(*exchange, topic);
    Confirmation confirmation{
        .message_id = aws::make_uuid(exchange->batcher.rng()),
        .token = subscription.token,
        .topic_arn = arn,
        .message = "This endpoint is to receive the messages of the topic " + arn +
                   ". If that is right, open the SubscribeURL of this message.",
        .subscribe_url = subscribe_url(exchange->base_url, arn, subscription.token),
        .timestamp = rfc3339(exchange->services.now())};
    const std::string version =
        topic.has("SignatureVersion", "2") ? std::string("2") : std::string("1");
    const Signature signature = sign(key, version, text_to_sign(confirmation), exchange->base_url);
    core::Publish message = to_confirm(*exchange, topic, subscription, confirmation.message_id,
                                       body_of(confirmation, signature));
    exchange->batcher.submit(std::move(message),
                             [exchange, topic, subscription, wants_arn](const core::Reply& reply) {
                               if (!reply) {
                                 exchange->refuse(aws::refusal_from(reply.error()));
                                 return;
                               }
                               tell(exchange, topic, subscription, wants_arn);
                             });
  });
}

}  // namespace

void subscribe(const ExchangePtr& exchange, aws::Input& input) {
  const auto subscribing = std::make_shared<Subscribing>();  // shared by the tries
  const std::string arn(input.required_text("TopicArn"));
  subscribing->wanted.protocol = input.required_text("Protocol");
  subscribing->wanted.endpoint = input.text("Endpoint").value_or("");
  subscribing->attributes = input.map("Attributes");
  subscribing->wants_arn = input.boolean("ReturnSubscriptionArn").value_or(false);
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto name = named_topic(*exchange, "TopicArn", arn);
  if (!name) {
    return;
  }
  change_topic(exchange, *name,
               {.change = [exchange, subscribing](
                              Topic& topic) { return enter(*exchange, topic, *subscribing); },
                .done =
                    [exchange, subscribing](const Topic& topic) {
                      const Subscription& there = topic.subscriptions.at(subscribing->id);
                      if (there.confirmed) {
                        tell(exchange, topic, there, subscribing->wants_arn);
                      } else {
                        ask_to_confirm(exchange, topic, there, subscribing->wants_arn);
                      }
                    }});
}

void confirm_subscription(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  const std::string token(input.required_text("Token"));
  const bool wants_authentication = input.boolean("AuthenticateOnUnsubscribe").value_or(false);
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto name = named_topic(*exchange, "TopicArn", arn);
  if (!name) {
    return;
  }
  const auto by_token = [token](const auto& one) {
    return !one.second.token.empty() && security::constant_time_equal(one.second.token, token);
  };
  const bool is_signed = !exchange->access_key.empty();
  change_topic(
      exchange, *name,
      {.change = [by_token, is_signed, wants_authentication](Topic& topic) -> Checked<bool> {
         const auto found = std::ranges::find_if(topic.subscriptions, by_token);
         if (found == topic.subscriptions.end()) {
           return std::unexpected(invalid("Token", "it is unknown, or its time is over"));
         }
         if (found->second.confirmed) {
           return false;
         }
         found->second.confirmed = true;
         found->second.authenticated = is_signed;
         found->second.authenticate_on_unsubscribe = is_signed && wants_authentication;
         return true;
       },
       .done =
           [exchange, by_token](const Topic& topic) {
             const auto found = std::ranges::find_if(topic.subscriptions, by_token);
             tell(exchange, topic, found->second, true);
           }});
}

void unsubscribe(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("SubscriptionArn"));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto name = named_subscription(*exchange, arn);
  if (!name) {
    return;
  }
  const bool is_signed = !exchange->access_key.empty();
  change_topic(exchange, name->topic,
               {.change = [id = name->id, is_signed](Topic& topic) -> Checked<bool> {
                  const auto found = topic.subscriptions.find(id);
                  if (found == topic.subscriptions.end()) {
                    return false;
                  }
                  if (found->second.authenticate_on_unsubscribe && !is_signed) {
                    return aws::refuse(aws::ErrorCode::sns_authorization_error,
                                       "To end this subscription the request must be signed.");
                  }
                  topic.subscriptions.erase(found);
                  return true;
                },
                .done = [exchange](const Topic&) { exchange->succeed(); },
                .gone = [exchange] { exchange->succeed(); }});
}

}  // namespace hk::api::sns
