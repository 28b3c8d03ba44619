#include "delivery/report.h"

#include <chrono>
#include <string>

#include "delivery/attempt.h"
#include "observe/log.h"

namespace hk::delivery {

void Reporter::attempt_ended(const Attempt& attempt, observe::AttemptResult result,
                             const core::CompleteAttempt& report) {
  const std::chrono::duration<double> took = Attempt::Clock::now() - attempt.began();
  metrics_.attempt(result, took.count());
  if (record_spans_ && (attempt.start().message->trace.flags & 1U) != 0) {
    record_span(attempt, report);
  }
  if (!report.delivered && observe::log_enabled(observe::Level::warn)) {
    observe::log(observe::Level::warn, "delivery.attempt_failed",
                 {{"message_id", core::to_text(report.id)},
                  {"attempt", report.fence.attempt},
                  {"host", attempt.url().host},
                  {"status", report.attempt.response_status},
                  {"error", report.attempt.error}});
  }
}

void Reporter::record_span(const Attempt& attempt, const core::CompleteAttempt& report) {
  const core::Message& message = *attempt.start().message;
  observe::Span span;
  span.trace_id = message.trace.trace_id;
  span.span_id = attempt.start().span_id;
  span.parent_span_id = message.trace.parent_span;
  span.name = "delivery.attempt";
  span.start_ms = to_ms(report.attempt.started_at);
  span.end_ms = to_ms(report.attempt.ended_at);
  span.error = !report.delivered;
  span.error_text = report.attempt.error;
  span.attributes.emplace_back("qstash.message_id", core::to_text(report.id));
  span.attributes.emplace_back("qstash.attempt", std::to_string(report.fence.attempt));
  span.attributes.emplace_back("server.address", attempt.url().host);
  if (!message.dedup_id.empty()) {
    span.attributes.emplace_back("qstash.dedup_id", message.dedup_id);
  }
  if (report.attempt.response_status != 0) {
    span.attributes.emplace_back("http.response.status_code",
                                 std::to_string(report.attempt.response_status));
  }
  spans_.record(std::move(span));
}

}  // namespace hk::delivery
