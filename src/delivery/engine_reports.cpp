#include "delivery/engine_reports.h"

#include <chrono>
#include <string>
#include <utility>

#include "observe/log.h"

namespace hk::delivery {
namespace {

/// What calling back may write: both bodies, as base64.
std::size_t callback_bytes(const core::Message& message, const core::Attempt& attempt) {
  return message.callback || message.failure_callback
             ? (message.body.size() + attempt.response_body.size()) / 3 * 4
             : 0;
}

}  // namespace

void EngineReports::take(const Request& request, Answer answer) {
  core::CompleteAttempt report{
      .partition = request.partition,
      .id = request.id,
      .fence = request.fence,
      .attempt = {.fence = request.fence,
                  .started_at = request.started_at,
                  .ended_at = request.started_at + std::chrono::ceil<Millis>(answer.took),
                  .response_status = answer.status,
                  .error = std::move(answer.error),
                  .response_headers = std::move(answer.headers),
                  .response_body = std::move(answer.body),
                  .span_id = request.span_id},
      .delivered = answer.delivered,
      .give_up = answer.give_up,
      .retry_after = answer.retry_after,
      .timed_out = answer.result == observe::AttemptResult::timeout,
      .not_made = answer.not_made && request.webhook != nullptr,
  };
  if (report.not_made) {
    tell_of_trouble(request, report.attempt);
    outbox_.add(std::move(report), 0, nullptr);
    return;
  }
  tell(request, answer, report.attempt);
  const std::size_t writes_more = callback_bytes(*request.message, report.attempt);
  outbox_.add(std::move(report), writes_more, std::move(answer.seat));
}

void EngineReports::tell_of_trouble(const Request& request, const core::Attempt& attempt) {
  if (observe::log_enabled(observe::Level::warn)) {
    observe::log(observe::Level::warn, "delivery.not_made",
                 {{"message_id", core::to_text(request.id)},
                  {"attempt", request.fence.attempt},
                  {"error", attempt.error}});
  }
}

void EngineReports::tell(const Request& request, const Answer& answer,
                         const core::Attempt& attempt) {
  metrics_.attempt(answer.result, std::chrono::duration<double>(answer.took).count());
  // A message that is pulled need not have a trace.
  if (record_spans_ && !request.message->pull && (request.message->trace.flags & 1U) != 0) {
    record_span(request, answer, attempt);
  }
  if (!answer.delivered && observe::log_enabled(observe::Level::warn)) {
    observe::log(observe::Level::warn, "delivery.attempt_failed",
                 {{"message_id", core::to_text(request.id)},
                  {"attempt", request.fence.attempt},
                  {"host", answer.host},
                  {"status", attempt.response_status},
                  {"error", attempt.error}});
  }
}

void EngineReports::record_span(const Request& request, const Answer& answer,
                                const core::Attempt& attempt) {
  const core::Message& message = *request.message;
  observe::Span span;
  span.trace_id = message.trace.trace_id;
  span.span_id = request.span_id;
  span.parent_span_id = message.trace.parent_span;
  span.name = "delivery.attempt";
  span.start_ms = to_ms(attempt.started_at);
  span.end_ms = to_ms(attempt.ended_at);
  span.error = !answer.delivered;
  span.error_text = attempt.error;
  span.attributes.emplace_back("qstash.message_id", core::to_text(request.id));
  span.attributes.emplace_back("qstash.attempt", std::to_string(request.fence.attempt));
  span.attributes.emplace_back("server.address", answer.host);
  if (!message.dedup_id.empty()) {
    span.attributes.emplace_back("qstash.dedup_id", message.dedup_id);
  }
  if (attempt.response_status != 0) {
    span.attributes.emplace_back("http.response.status_code",
                                 std::to_string(attempt.response_status));
  }
  spans_.record(std::move(span));
}

}  // namespace hk::delivery
