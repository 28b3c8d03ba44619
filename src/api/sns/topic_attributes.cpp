#include <algorithm>
#include <array>

#include "api/aws/tags.h"
#include "api/sns/attributes.h"
#include "api/text.h"
#include "base/json.h"
#include "base/json_input.h"
#include "core/topic/delivery_policy.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

constexpr std::size_t name_characters_max = 100;
constexpr std::size_t text_bytes_max = 2'048;
constexpr std::size_t topic_policy_bytes_max = 32'768;

/// As the service spells what it does by default, which is what we do.
constexpr std::string_view default_delivery_policy =
    R"({"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,)"
    R"("numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,)"
    R"("backoffFunction":"linear"},"disableSubscriptionOverrides":false}})";

std::string default_policy(const std::string& arn, const std::string& account) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.field("Version", "2008-10-17");
  json.field("Id", "__default_policy_ID");
  json.key("Statement");
  json.begin_array();
  json.begin_object();
  json.field("Sid", "__default_statement_ID");
  json.field("Effect", "Allow");
  json.key("Principal");
  json.begin_object();
  json.field("AWS", "*");
  json.end_object();
  json.key("Action");
  json.begin_array();
  for (const std::string_view action :
       {"SNS:GetTopicAttributes", "SNS:SetTopicAttributes", "SNS:AddPermission",
        "SNS:RemovePermission", "SNS:DeleteTopic", "SNS:Subscribe", "SNS:ListSubscriptionsByTopic",
        "SNS:Publish"}) {
    json.string(action);
  }
  json.end_array();
  json.field("Resource", arn);
  json.key("Condition");
  json.begin_object();
  json.key("StringEquals");
  json.begin_object();
  json.field("AWS:SourceOwner", account);
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_array();
  json.end_object();
  return text;
}

/// Reports of deliveries to a log of the cloud: kept, and nothing comes of it.
bool is_feedback_setting(std::string_view name) {
  constexpr std::array services{"HTTP", "SQS", "Lambda", "Firehose", "Application"};
  constexpr std::array settings{"SuccessFeedbackRoleArn", "SuccessFeedbackSampleRate",
                                "FailureFeedbackRoleArn"};
  return std::ranges::any_of(services, [&](std::string_view service) {
    return name.starts_with(service) &&
           std::ranges::find(settings, name.substr(service.size())) != settings.end();
  });
}

std::unexpected<aws::Refusal> wrong(std::string_view name, std::string_view reason) {
  return std::unexpected(invalid("Attributes", std::string(name) + ": " + std::string(reason)));
}

Checked<std::string> one_of(std::string_view name, const std::string& value,
                            std::initializer_list<std::string_view> allowed) {
  if (std::ranges::find(allowed, value) == allowed.end()) {
    std::string list;
    for (const std::string_view one : allowed) {
      list += list.empty() ? "" : " or ";
      list += one;
    }
    return wrong(name, "it must be " + list);
  }
  return value;
}

/// "" removes it.
Checked<std::string> json_text(std::string_view name, const std::string& value) {
  if (!value.empty()) {
    if (const auto object = parse_json_object(value, topic_policy_bytes_max); !object) {
      return wrong(name, object.error().message);
    }
  }
  return value;
}

Checked<std::string> boolean(std::string_view name, const std::string& value) {
  const auto parsed = parse_bool(value);
  if (!parsed) {
    return wrong(name, "it must be true or false");
  }
  return std::string(*parsed ? "true" : "false");
}

/// The value as it is kept; "": not at all.
Checked<std::string> checked(const Topic& topic, const std::string& name, const std::string& value,
                             bool creating) {
  if (name == "DisplayName") {
    if (aws::characters(value) > name_characters_max) {
      return wrong(name, "it has at most 100 characters");
    }
    return value;
  }
  if (name == "DeliveryPolicy" && !value.empty()) {
    if (const auto read = core::read_delivery_policy(value, true); !read) {
      return wrong(name, read.error().message);
    }
  }
  if (name == "Policy" || name == "DeliveryPolicy") {
    return json_text(name, value);
  }
  if (name == "SignatureVersion") {
    return one_of(name, value, {"1", "2"});
  }
  if (name == "TracingConfig") {
    return one_of(name, value, {"PassThrough", "Active"});
  }
  if (name == "KmsMasterKeyId" || is_feedback_setting(name)) {
    if (value.size() > text_bytes_max) {
      return wrong(name, "it is too long");
    }
    return value;
  }
  if (name == "FifoTopic" && creating) {
    const Checked<std::string> fifo = boolean(name, value);
    if (fifo && (*fifo == "true") != topic.fifo()) {
      return wrong(name, "the name of a FIFO topic, and of no other, ends in .fifo");
    }
    return fifo;
  }
  if (topic.fifo() && name == "ContentBasedDeduplication") {
    return boolean(name, value);
  }
  if (topic.fifo() && name == "FifoThroughputScope") {
    return one_of(name, value, {"Topic", "MessageGroup"});
  }
  return std::unexpected(invalid(creating ? "Attributes" : "AttributeName",
                                 name.substr(0, 100) + " is not an attribute that can be set"));
}

}  // namespace

Checked<void> set_attribute(Topic& topic, const std::string& name, const std::string& value,
                            bool creating) {
  Checked<std::string> kept = checked(topic, name, value, creating);
  if (!kept) {
    return std::unexpected(std::move(kept.error()));
  }
  if (kept->empty()) {
    topic.attributes.erase(name);
  } else {
    topic.attributes[name] = std::move(*kept);
  }
  if (name == "DeliveryPolicy") {
    topic.retries = value.empty() ? std::nullopt : core::read_delivery_policy(value, true).value();
  }
  return {};
}

std::string_view default_of(std::string_view topic_attribute) {
  if (topic_attribute == "ContentBasedDeduplication" || topic_attribute == "FifoTopic") {
    return "false";
  }
  if (topic_attribute == "SignatureVersion") {
    return "1";
  }
  if (topic_attribute == "TracingConfig") {
    return "PassThrough";
  }
  if (topic_attribute == "FifoThroughputScope") {
    return "Topic";
  }
  return "";
}

aws::TextMap attributes_of(const Exchange& exchange, const Topic& topic) {
  const std::string arn = arn_of(exchange, topic);
  std::size_t confirmed = 0;
  std::size_t pending = 0;
  for (const auto& [id, one] : topic.subscriptions) {
    confirmed += one.confirmed ? 1 : 0;
    pending += one.confirmed || core::lapsed(one, exchange.services.now()) ? 0 : 1;
  }
  aws::TextMap all = topic.attributes;
  all["TopicArn"] = arn;
  all["Owner"] = exchange.account;
  all["SubscriptionsConfirmed"] = std::to_string(confirmed);
  all["SubscriptionsPending"] = std::to_string(pending);
  all["SubscriptionsDeleted"] = "0";
  all.emplace("DisplayName", "");
  if (!all.contains("Policy")) {
    all["Policy"] = default_policy(arn, exchange.account);
  }
  const auto own = all.find("DeliveryPolicy");
  all["EffectiveDeliveryPolicy"] =
      own != all.end() ? own->second : std::string(default_delivery_policy);
  if (topic.fifo()) {
    all.emplace("ContentBasedDeduplication", "false");
  } else {
    all.erase("FifoTopic");
  }
  return all;
}

Checked<void> set_tags(Topic& topic, const aws::TextMap& tags) {
  if (const Result<void> good = aws::check_tags(tags); !good) {
    return std::unexpected(invalid("Tags", good.error().message));
  }
  for (const auto& [key, value] : tags) {
    topic.tags[key] = value;
  }
  if (topic.tags.size() > aws::tags_max) {
    return std::unexpected(invalid("Tags", "a topic has at most 50 tags"));
  }
  return {};
}

}  // namespace hk::api::sns
