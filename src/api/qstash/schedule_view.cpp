#include "api/qstash/schedule_view.h"

#include <utility>

#include "api/qstash/view.h"

namespace hk::api::qstash {

namespace {

std::int64_t seconds(Millis time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); }

void write_grouping(JsonWriter& json, const core::Schedule& schedule) {
  const core::Message& message = schedule.prototype;
  if (!message.queue.empty()) {
    json.field("queueName", message.queue);
  }
  write_labels(json, message.labels);
  // Its own settings, not those in force: a later publish may have changed them until the next run.
  if (!message.flow_key.empty()) {
    write_flow_fields(json, message.flow_key, schedule.flow ? &*schedule.flow : nullptr);
  }
}

std::string_view state_word(core::Status status) {
  switch (status) {
    case core::Status::pending:
    case core::Status::running: return "IN_PROGRESS";
    case core::Status::succeeded: return "SUCCESS";
    case core::Status::failed:
    case core::Status::canceled: return "FAIL";
  }
  std::unreachable();
}

/// Messages that retention has taken away are left out.
void write_last_run(JsonWriter& json, core::Reader& view, const core::ScheduleState& state) {
  json.field("lastScheduleTime", to_ms(state.last_at));
  json.key("lastScheduleStates");
  json.begin_object();
  for (const core::MessageId& id : state.last_messages) {
    if (const std::optional<core::MessageState> known = view.get<core::MessageState>(id.seq)) {
      json.field(core::to_text(id), state_word(known->status));
    } else if (view.get<core::Message>(id.seq) != nullptr) {
      json.field(core::to_text(id), state_word(core::Status::pending));
    }
  }
  json.end_object();
}

}  // namespace

void write_schedule(JsonWriter& json, core::Reader& view, const core::Schedule& schedule,
                    const core::ScheduleState& state, Millis timeout_default) {
  const core::Message& message = schedule.prototype;
  const Redaction redaction(message);
  json.begin_object();
  json.field("scheduleId", schedule.id);
  json.field("cron", schedule.cron);
  json.field("createdAt", to_ms(schedule.created_at));
  json.field("destination", message.url.empty() ? message.topic : message.url);
  json.field("method", message.method);
  write_header_map(json, "header", message.headers, &redaction);
  write_bytes(json, "body", redaction.body(message.body));
  json.field("retries", message.retry.retries_max);
  if (const auto* const expression = std::get_if<core::ExpressionDelay>(&message.retry.delay)) {
    json.field("retryDelayExpression", expression->text);
  }
  if (schedule.delay > Millis{0}) {
    json.field("delay", seconds(schedule.delay));
  }
  if (message.timeout != timeout_default) {
    json.field("timeout", seconds(message.timeout));
  }
  write_callback_fields(json, message, redaction, "Header");
  write_grouping(json, schedule);
  json.field("callerIP", message.caller_ip);
  json.field("callerIp", message.caller_ip);
  json.field("isPaused", state.paused);
  if (state.next_at != never) {
    json.field("nextScheduleTime", to_ms(state.next_at));
  }
  if (state.last_at != Moment{}) {
    write_last_run(json, view, state);
  }
  if (!state.error.empty()) {
    json.field("error", state.error);
  }
  json.end_object();
}

}  // namespace hk::api::qstash
