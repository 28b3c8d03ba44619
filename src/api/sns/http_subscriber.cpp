#include "api/sns/http_subscriber.h"

#include <algorithm>

#include "core/fresh_trace.h"
#include "core/message/callback.h"
#include "core/topic/delivery_policy.h"

namespace hk::api::sns {

namespace {

constexpr Millis timeout{15'000};

/// A subscription's own policy counts before that of its topic.
core::RetryPolicy retries_of(const Topic& topic, const Subscription& subscription) {
  if (subscription.retries) {
    return *subscription.retries;
  }
  return topic.retries ? *topic.retries : core::default_retries();
}

std::vector<core::Header> headers(const Exchange& exchange, const Topic& topic,
                                  const Subscription& subscription, HttpMessage kind,
                                  std::string_view message_id) {
  const bool confirmation = kind == HttpMessage::confirmation;
  std::vector<core::Header> all = {
      {"Content-Type", "text/plain; charset=UTF-8"},
      {"User-Agent", "Amazon Simple Notification Service Agent"},
      {"x-amz-sns-message-type", confirmation ? "SubscriptionConfirmation" : "Notification"},
      {"x-amz-sns-message-id", std::string(message_id)},
      {"x-amz-sns-topic-arn", arn_of(exchange, topic)},
  };
  if (!confirmation) {
    all.push_back({"x-amz-sns-subscription-arn", arn_of(exchange, topic, subscription)});
  }
  if (kind == HttpMessage::raw_notification) {
    all.push_back({"x-amz-sns-rawdelivery", "true"});
  }
  return all;
}

}  // namespace

Result<core::Publish> to_subscriber(const Exchange& exchange, const Topic& topic,
                                    const Subscription& subscription, HttpMessage kind,
                                    std::string_view message_id, std::string body) {
  // A subscription that was allowed when it was made still gets its copy: if the settings have
  // changed since, that copy fails at its attempts and can be seen, instead of vanishing.
  Result<std::string> host = exchange.services.options.gate_of(subscription.endpoint);
  if (!host) {
    return std::unexpected(std::move(host.error()));
  }
  core::Publish publish;
  publish.message = std::make_unique<core::Message>();
  core::Message& message = *publish.message;
  message.tenant = exchange.tenant_id();
  message.url = subscription.endpoint;
  message.host = std::move(*host);
  message.headers = headers(exchange, topic, subscription, kind, message_id);
  message.body = std::move(body);
  message.retry = retries_of(topic, subscription);
  message.timeout = std::min(timeout, exchange.services.options.timeout_max);
  message.caller_ip = exchange.caller_ip;
  message.trace = core::fresh_trace(exchange.batcher.rng());
  message.notification = true;
  if (kind != HttpMessage::confirmation && !subscription.dead_letters_to.empty()) {
    message.failure_callback =
        core::Callback{.url = std::string(core::queue_scheme) + subscription.dead_letters_to};
  }
  return publish;
}

}  // namespace hk::api::sns
