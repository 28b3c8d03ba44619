#include "api/aws/names.h"
#include "api/sns/attributes.h"
#include "api/text.h"
#include "base/json_input.h"
#include "core/topic/delivery_policy.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

constexpr std::size_t subscription_policy_bytes_max = 65'536;

bool is_object_of_nothing(const std::string& text) {
  const auto object = parse_json_object(text);
  return object && object->empty();
}

Checked<void> check_redrive(const Exchange& exchange, const Topic& topic,
                            const std::string& value) {
  const auto wrong = [](std::string_view reason) {
    return std::unexpected(invalid("RedrivePolicy", reason));
  };
  const auto object = parse_json_object(value);
  if (!object) {
    return wrong(object.error().message);
  }
  const auto text = text_member(*object, "deadLetterTargetArn");
  const auto arn = text ? aws::parse_arn(*text) : std::nullopt;
  if (!arn || arn->service != "sqs" || !aws::valid_queue_name(arn->resource)) {
    return wrong(R"(it must be {"deadLetterTargetArn":"<ARN of a queue>"})");
  }
  if (arn->account != exchange.account) {
    return wrong("the queue must be of the same account");
  }
  if (aws::is_fifo_name(arn->resource) != topic.fifo()) {
    return wrong("the dead-letter queue of a FIFO topic, and of no other, is a FIFO queue");
  }
  return {};
}

/// The value as it is kept; "": not at all.
Checked<std::string> checked(const Exchange& exchange, const Topic& topic, const std::string& name,
                             const std::string& value) {
  if (value.size() > subscription_policy_bytes_max) {
    return aws::refuse(
        aws::ErrorCode::sns_filter_policy_limit_exceeded,
        name + " is longer than " + std::to_string(subscription_policy_bytes_max) + " bytes.");
  }
  if (name == "RawMessageDelivery") {
    const auto raw = parse_bool(value);
    if (!raw) {
      return std::unexpected(invalid(name, "it must be true or false"));
    }
    return std::string(*raw ? "true" : "false");
  }
  if (name == "FilterPolicy") {
    return is_object_of_nothing(value) ? std::string() : value;
  }
  if (name == "FilterPolicyScope") {
    if (value != "MessageAttributes" && value != "MessageBody") {
      return std::unexpected(invalid(name, "it must be MessageAttributes or MessageBody"));
    }
    return value;
  }
  if (name == "RedrivePolicy") {
    if (value.empty() || is_object_of_nothing(value)) {
      return std::string();
    }
    if (const auto good = check_redrive(exchange, topic, value); !good) {
      return std::unexpected(good.error());
    }
    return value;
  }
  if (name == "DeliveryPolicy") {
    if (!value.empty()) {
      if (const auto read = core::read_delivery_policy(value, false); !read) {
        return std::unexpected(invalid(name, read.error().message));
      }
    }
    return value;
  }
  return std::unexpected(
      invalid("AttributeName", name.substr(0, 100) + " is not an attribute that can be set"));
}

}  // namespace

aws::Refusal filter_policy_refusal(const Error& error, bool subscribing) {
  return {aws::ErrorCode::sns_invalid_parameter, std::string("Invalid parameter: ") +
                                                     (subscribing ? "Attributes Reason: " : "") +
                                                     "FilterPolicy: " + error.message};
}

Checked<void> set_attribute(const Exchange& exchange, const Topic& topic,
                            Subscription& subscription, const std::string& name,
                            const std::string& value, bool subscribing) {
  Checked<std::string> kept = checked(exchange, topic, name, value);
  if (!kept) {
    return std::unexpected(std::move(kept.error()));
  }
  if (kept->empty()) {
    subscription.attributes.erase(name);
  } else {
    subscription.attributes[name] = std::move(*kept);
  }
  if (const auto read = read_attributes(subscription); !read) {
    return std::unexpected(filter_policy_refusal(read.error(), subscribing));
  }
  return {};
}

Checked<void> set_attributes(const Exchange& exchange, const Topic& topic,
                             Subscription& subscription, const aws::TextMap& attributes) {
  constexpr std::string_view scope = "FilterPolicyScope";  // what a policy may say depends on it
  if (const auto found = attributes.find(scope); found != attributes.end()) {
    if (auto set = set_attribute(exchange, topic, subscription, found->first, found->second, true);
        !set) {
      return set;
    }
  }
  for (const auto& [name, value] : attributes) {
    if (name == scope) {
      continue;
    }
    if (auto set = set_attribute(exchange, topic, subscription, name, value, true); !set) {
      return set;
    }
  }
  return {};
}

aws::TextMap attributes_of(const Exchange& exchange, const Topic& topic,
                           const Subscription& subscription) {
  aws::TextMap all = subscription.attributes;
  all["SubscriptionArn"] = arn_of(exchange, topic, subscription);
  all["TopicArn"] = arn_of(exchange, topic);
  all["Owner"] = exchange.account;
  all["Protocol"] = subscription.protocol;
  all["Endpoint"] = subscription.endpoint;
  all["PendingConfirmation"] = subscription.confirmed ? "false" : "true";
  all["ConfirmationWasAuthenticated"] = subscription.authenticated ? "true" : "false";
  all.emplace("RawMessageDelivery", "false");
  if (subscription.attributes.contains("FilterPolicy")) {
    all.emplace("FilterPolicyScope", "MessageAttributes");
  }
  return all;
}

}  // namespace hk::api::sns
