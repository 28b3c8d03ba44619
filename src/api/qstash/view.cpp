#include "api/qstash/view.h"

#include <algorithm>

#include "api/text.h"
#include "base/ascii.h"
#include "base/encoding.h"
#include "security/digest.h"

namespace hk::api::qstash {

namespace {

std::string redacted(const std::string& original) {
  const security::Digest256 digest = security::sha256(original);
  return "REDACTED:" + hex(std::string(digest.begin(), digest.end()));
}

}  // namespace

Redaction::Redaction(const core::Message& message) {
  constexpr std::string_view one_header = "header:";
  for (const std::string& what : message.redact) {
    if (what == "body") {
      body_ = true;
    } else if (what == "header") {
      headers_ = true;
    } else if (what.starts_with(one_header)) {
      names_.push_back(what.substr(one_header.size()));
    }
  }
}

std::string Redaction::header(std::string_view name, const std::string& value) const {
  const bool hidden =
      headers_ || (!names_.empty() && std::ranges::find(names_, lower_case(name)) != names_.end());
  return hidden ? redacted(value) : value;
}

std::string Redaction::body(const std::string& body) const {
  return body_ && !body.empty() ? redacted(body) : body;
}

const core::FlowKey* FlowLimits::find(core::TenantId tenant, const std::string& key) {
  const auto [at, fresh] = keys_.try_emplace({tenant, key});
  if (fresh) {
    at->second = reader_.get<core::FlowKey>({tenant, key});
  }
  return at->second ? &*at->second : nullptr;
}

void write_header_map(JsonWriter& json, std::string_view name,
                      const std::vector<core::Header>& headers, const Redaction* redaction) {
  if (redaction == nullptr) {
    core::write_header_map(json, name, headers);
    return;
  }
  std::vector<core::Header> shown = headers;
  for (core::Header& header : shown) {
    header.value = redaction->header(header.name, header.value);
  }
  core::write_header_map(json, name, shown);
}

void write_bytes(JsonWriter& json, std::string_view name, const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  if (valid_utf8(bytes)) {
    json.field(name, bytes);
  } else {
    json.field(std::string(name) + "Base64", base64(bytes));
  }
}

void write_cursor(JsonWriter& json, const std::optional<std::string>& cursor) {
  if (cursor) {
    json.field("cursor", *cursor);
  }
}

void write_labels(JsonWriter& json, const std::vector<std::string>& labels) {
  if (labels.empty()) {
    return;
  }
  json.field("label", labels.front());
  json.key("labels");
  json.begin_array();
  for (const std::string& label : labels) {
    json.string(label);
  }
  json.end_array();
}

void write_flow_fields(JsonWriter& json, const std::string& key, const core::FlowKey* limits) {
  json.field("flowControlKey", key);
  if (limits != nullptr && limits->parallelism != 0) {
    json.field("parallelism", limits->parallelism);
  }
  if (limits != nullptr && limits->rate != 0) {
    json.field("rate", limits->rate);
  }
  const Millis period = limits != nullptr ? limits->period : Millis{1000};
  json.field("period", std::chrono::ceil<std::chrono::seconds>(period).count());
}

void write_common_fields(JsonWriter& json, const core::Message& message, FlowLimits& flows) {
  if (!message.queue.empty()) {
    json.field("queueName", message.queue);
  }
  if (!message.topic.empty()) {
    json.field("topicName", message.topic);
  }
  if (!message.endpoint.empty()) {
    json.field("endpointName", message.endpoint);
  }
  if (!message.schedule.empty()) {
    json.field("scheduleId", message.schedule);
  }
  write_labels(json, message.labels);
  if (!message.flow_key.empty()) {
    write_flow_fields(json, message.flow_key, flows.find(message.tenant, message.flow_key));
  }
}

void write_callback_fields(JsonWriter& json, const core::Message& message,
                           const Redaction& redaction, std::string_view header) {
  const auto write = [&](const std::string& name, const std::optional<core::Callback>& callback) {
    if (!callback) {
      return;
    }
    json.field(name, callback->url);
    if (!callback->headers.empty()) {
      write_header_map(json, name + std::string(header), callback->headers, &redaction);
    }
  };
  write("callback", message.callback);
  write("failureCallback", message.failure_callback);
}

void write_message_fields(JsonWriter& json, const Story& story, FlowLimits& flows, bool with_body) {
  const core::Message& message = *story.message;
  const Redaction redaction(message);
  json.field("messageId", core::to_text(message.id));
  json.field("url", message.url);
  json.field("method", message.method);
  write_header_map(json, "header", message.headers, &redaction);
  if (with_body) {
    write_bytes(json, "body", redaction.body(message.body));
  }
  json.field("maxRetries", message.retry.retries_max);
  json.field("notBefore", to_ms(story.not_before()));
  json.field("createdAt", to_ms(message.created_at));
  if (const auto* const expression = std::get_if<core::ExpressionDelay>(&message.retry.delay)) {
    json.field("retryDelayExpression", expression->text);
  }
  write_callback_fields(json, message, redaction, "Header");
  json.field("callerIP", message.caller_ip);
  json.field("callerIp", message.caller_ip);
  write_common_fields(json, message, flows);
}

}  // namespace hk::api::qstash
