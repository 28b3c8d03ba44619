#include "api/qstash/event_view.h"

#include <array>
#include <utility>

#include "base/encoding.h"

namespace hk::api::qstash {

using core::EventKind;

std::string_view state_name(EventKind kind) {
  switch (kind) {
    case EventKind::created: return "CREATED";
    case EventKind::active: return "ACTIVE";
    case EventKind::error: return "ERROR";
    case EventKind::retry: return "RETRY";
    case EventKind::delivered: return "DELIVERED";
    case EventKind::failed: return "FAILED";
    case EventKind::cancel_requested: return "CANCEL_REQUESTED";
    case EventKind::canceled: return "CANCELED";
  }
  std::unreachable();
}

std::optional<StateFilter> StateFilter::parse(std::string_view text) {
  constexpr std::array<std::string_view, 9> names = {
      "CREATED", "ACTIVE",           "ERROR",    "RETRY",       "DELIVERED",
      "FAILED",  "CANCEL_REQUESTED", "CANCELED", "IN_PROGRESS",
  };
  const std::string_view wanted = text == "CANCELLED" ? "CANCELED" : text;
  for (const std::string_view name : names) {
    if (name == wanted) {
      StateFilter filter;
      filter.name_ = name;
      return filter;
    }
  }
  return std::nullopt;
}

bool StateFilter::matches(EventKind kind) const {
  if (name_ == "IN_PROGRESS") {
    return kind == EventKind::active || kind == EventKind::retry || kind == EventKind::error;
  }
  return name_.empty() || name_ == state_name(kind);
}

namespace {

void write_failure(JsonWriter& json, const core::Attempt& attempt, bool with_bodies) {
  if (!attempt.error.empty()) {
    json.field("error", attempt.error);
  }
  if (attempt.response_status == 0) {
    return;
  }
  json.field("responseStatus", attempt.response_status);
  if (with_bodies && !attempt.response_body.empty()) {
    json.field("responseBody", base64(attempt.response_body));
  }
  // Two SDKs read two names.
  write_header_map(json, "responseHeaders", attempt.response_headers, nullptr);
  write_header_map(json, "responseHeader", attempt.response_headers, nullptr);
}

}  // namespace

void write_event(JsonWriter& json, const HistoryEntry& event, const Story& story, FlowLimits& flows,
                 const EventStyle& style) {
  const core::Message& message = *story.message;
  const Redaction redaction(message);
  json.begin_object();
  json.field("time", to_ms(event.time));
  json.field("messageId", core::to_text(message.id));
  json.field("state", state_name(event.kind));
  json.field("url", message.url);
  json.field("method", message.method);
  write_header_map(json, "header", message.headers, &redaction);
  if (style.with_bodies && !message.body.empty()) {
    json.field("body", base64(redaction.body(message.body)));
  }
  if (event.kind == EventKind::created || event.kind == EventKind::retry) {
    json.field("nextDeliveryTime", to_ms(story.next_delivery(event.attempt)));
  }
  if (event.kind == EventKind::error) {
    if (const core::Attempt* const attempt = story.attempt(event.attempt)) {
      write_failure(json, *attempt, style.with_bodies);
    }
  }
  json.field("maxRetries", message.retry.retries_max);
  if (message.timeout != style.timeout_default) {
    json.field("timeout", message.timeout.count());
  }
  if (const auto* const expression = std::get_if<core::ExpressionDelay>(&message.retry.delay)) {
    json.field("retryDelayExpr", expression->text);
    json.field("retryDelayExpression", expression->text);
  }
  write_callback_fields(json, message, redaction, "Headers");
  write_common_fields(json, message, flows);
  json.end_object();
}

}  // namespace hk::api::qstash
