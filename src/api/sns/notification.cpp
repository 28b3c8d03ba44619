#include "api/sns/notification.h"

#include "base/encoding.h"
#include "base/json.h"

namespace hk::api::sns {

namespace {

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += '\n';
  out += value;
  out += '\n';
}

void write(JsonWriter& json, const Signature& signature) {
  json.field("SignatureVersion", signature.version);
  json.field("Signature", signature.text);
  json.field("SigningCertURL", signature.certificate_url);
}

}  // namespace

std::string text_to_sign(const Notification& notification) {
  std::string text;
  append_line(text, "Message", notification.message);
  append_line(text, "MessageId", notification.message_id);
  if (notification.subject) {
    append_line(text, "Subject", *notification.subject);
  }
  append_line(text, "Timestamp", notification.timestamp);
  append_line(text, "TopicArn", notification.topic_arn);
  append_line(text, "Type", "Notification");
  return text;
}

std::string text_to_sign(const Confirmation& confirmation) {
  std::string text;
  append_line(text, "Message", confirmation.message);
  append_line(text, "MessageId", confirmation.message_id);
  append_line(text, "SubscribeURL", confirmation.subscribe_url);
  append_line(text, "Timestamp", confirmation.timestamp);
  append_line(text, "Token", confirmation.token);
  append_line(text, "TopicArn", confirmation.topic_arn);
  append_line(text, "Type", "SubscriptionConfirmation");
  return text;
}

core::Form envelope(const Notification& notification, const Signature* signature,
                    std::string_view base_url, const aws::MessageAttributes& attributes) {
  using Hole = core::Form::Hole;
  core::Form form;
  std::string& body = form.text;
  // At the end of the text that was written last.
  const auto leave_open = [&form](Hole hole) {
    form.places.push_back({form.text.size() - 1, hole});
  };
  body.reserve(notification.message.size() + 1024);
  JsonWriter json(body);
  json.begin_object();
  json.field("Type", "Notification");
  json.field("MessageId", notification.message_id);
  if (notification.message_id.empty()) {
    leave_open(Hole::message_id);
    json.field("SequenceNumber", "");
    leave_open(Hole::sequence_number);
  }
  json.field("TopicArn", notification.topic_arn);
  if (notification.subject) {
    json.field("Subject", *notification.subject);
  }
  json.field("Message", notification.message);
  json.field("Timestamp", notification.timestamp);
  if (signature != nullptr) {
    write(json, *signature);
  }
  json.field("UnsubscribeURL", unsubscribe_url(base_url, notification.topic_arn + ':'));
  leave_open(Hole::subscription);
  if (!attributes.empty()) {
    json.key("MessageAttributes");
    json.begin_object();
    for (const auto& [name, attribute] : attributes) {
      json.key(name);
      json.begin_object();
      json.field("Type", attribute.data_type);
      json.field("Value", attribute.is_binary() ? base64(attribute.value())
                                                : std::string(attribute.value()));
      json.end_object();
    }
    json.end_object();
  }
  json.end_object();
  return form;
}

std::string body_of(const Confirmation& confirmation, const Signature& signature) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  json.field("Type", "SubscriptionConfirmation");
  json.field("MessageId", confirmation.message_id);
  json.field("Token", confirmation.token);
  json.field("TopicArn", confirmation.topic_arn);
  json.field("Message", confirmation.message);
  json.field("SubscribeURL", confirmation.subscribe_url);
  json.field("Timestamp", confirmation.timestamp);
  write(json, signature);
  json.end_object();
  return body;
}

std::string unsubscribe_url(std::string_view base_url, std::string_view subscription_arn) {
  return std::string(base_url) +
         "/?Action=Unsubscribe&SubscriptionArn=" + std::string(subscription_arn);
}

std::string subscribe_url(std::string_view base_url, std::string_view topic_arn,
                          std::string_view token) {
  return std::string(base_url) + "/?Action=ConfirmSubscription&TopicArn=" + std::string(topic_arn) +
         "&Token=" + std::string(token);
}

std::string certificate_url(std::string_view base_url) {
  return std::string(base_url) + "/sns/certificate.pem";
}

}  // namespace hk::api::sns
