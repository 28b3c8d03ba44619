#include "api/qstash/view.h"

#include <algorithm>

#include "api/text.h"
#include "security/digest.h"
#include "security/encoding.h"

namespace hk::api::qstash {

namespace {

std::string redacted(const std::string& original) {
  const security::Digest256 digest = security::sha256(original);
  return "REDACTED:" + security::hex(std::string(digest.begin(), digest.end()));
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
      headers_ || (!names_.empty() && std::ranges::find(names_, to_lower(name)) != names_.end());
  return hidden ? redacted(value) : value;
}

std::string Redaction::body(const std::string& body) const {
  return body_ && !body.empty() ? redacted(body) : body;
}

const core::FlowKey* FlowLimits::find(core::TenantId tenant, const std::string& key) {
  if (!keys_) {
    keys_ = reader_.flow_keys();
  }
  for (const core::FlowKey& one : *keys_) {
    if (one.tenant == tenant && one.key == key) {
      return &one;
    }
  }
  return nullptr;
}

void write_header_map(JsonWriter& json, std::string_view name,
                      const std::vector<core::Header>& headers, const Redaction* redaction) {
  std::vector<std::pair<std::string, std::vector<std::string>>> grouped;
  for (const core::Header& header : headers) {
    const std::string canonical = canonical_header_name(header.name);
    auto place = std::ranges::find(grouped, canonical,
                                   &std::pair<std::string, std::vector<std::string>>::first);
    if (place == grouped.end()) {
      place = grouped.insert(grouped.end(), {canonical, {}});
    }
    place->second.push_back(redaction != nullptr ? redaction->header(header.name, header.value)
                                                 : header.value);
  }
  json.key(name);
  json.begin_object();
  for (const auto& [canonical, values] : grouped) {
    json.key(canonical);
    json.begin_array();
    for (const std::string& value : values) {
      json.string(value);
    }
    json.end_array();
  }
  json.end_object();
}

void write_bytes(JsonWriter& json, std::string_view name, const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  if (valid_utf8(bytes)) {
    json.field(name, bytes);
  } else {
    json.field(std::string(name) + "Base64", security::base64(bytes));
  }
}

void write_cursor(JsonWriter& json, const std::optional<std::string>& cursor) {
  if (cursor) {
    json.field("cursor", *cursor);
  }
}

void write_common_fields(JsonWriter& json, const core::Message& message, FlowLimits& flows) {
  if (!message.queue.empty()) {
    json.field("queueName", message.queue);
  }
  if (!message.labels.empty()) {
    json.field("label", message.labels.front());
    json.key("labels");
    json.begin_array();
    for (const std::string& label : message.labels) {
      json.string(label);
    }
    json.end_array();
  }
  if (message.flow_key.empty()) {
    return;
  }
  json.field("flowControlKey", message.flow_key);
  const core::FlowKey* const limits = flows.find(message.tenant, message.flow_key);
  if (limits != nullptr && limits->parallelism != 0) {
    json.field("parallelism", limits->parallelism);
  }
  if (limits != nullptr && limits->rate != 0) {
    json.field("rate", limits->rate);
  }
  const Millis period = limits != nullptr ? limits->period : Millis{1000};
  json.field("period", std::chrono::ceil<std::chrono::seconds>(period).count());
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
  json.field("callerIP", message.caller_ip);
  json.field("callerIp", message.caller_ip);
  write_common_fields(json, message, flows);
}

}  // namespace hk::api::qstash
