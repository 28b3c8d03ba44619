#include "api/sns/http_subscriber.h"

#include <algorithm>

namespace hk::api::sns {

namespace {

constexpr Millis timeout{15'000};

std::vector<core::FormHeader> headers(const char* type, const std::string& topic_arn,
                                      const std::string& message_id) {
  core::Form id{.text = message_id};
  if (message_id.empty()) {
    id.places = {{0, core::Form::Hole::message_id}};
  }
  return {{"Content-Type", {.text = "text/plain; charset=UTF-8"}},
          {"User-Agent", {.text = "Amazon Simple Notification Service Agent"}},
          {"x-amz-sns-message-type", {.text = type}},
          {"x-amz-sns-message-id", std::move(id)},
          {"x-amz-sns-topic-arn", {.text = topic_arn}}};
}

}  // namespace

Millis notification_timeout(const Exchange& exchange) {
  return std::min(timeout, exchange.services.options.timeout_max);
}

std::vector<core::FormHeader> notification_headers(const std::string& topic_arn,
                                                   const std::string& message_id) {
  std::vector<core::FormHeader> all = headers("Notification", topic_arn, message_id);
  core::Form arn{.text = topic_arn + ':'};
  arn.places = {{arn.text.size(), core::Form::Hole::subscription}};
  all.push_back({"x-amz-sns-subscription-arn", std::move(arn)});
  return all;
}

std::unique_ptr<core::Message> invitation(const Exchange& exchange, const std::string& topic_arn,
                                          const std::string& message_id, std::string body) {
  auto message = std::make_unique<core::Message>();
  for (core::FormHeader& one : headers("SubscriptionConfirmation", topic_arn, message_id)) {
    message->headers.push_back({std::move(one.name), std::move(one.value.text)});
  }
  message->body = std::move(body);
  message->timeout = notification_timeout(exchange);
  message->caller_ip = exchange.caller_ip;
  return message;
}

}  // namespace hk::api::sns
