/// What the outside learns of an attempt besides the core: a count, a span, and a log line when it
/// failed. Never a body, a query string or a secret. One I/O thread.
#pragma once

#include "core/command.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::delivery {

class Attempt;

class Reporter {
 public:
  Reporter(observe::Metrics& metrics, observe::SpanExporter& spans, bool record_spans)
      : metrics_(metrics), spans_(spans), record_spans_(record_spans) {}

  void attempt_ended(const Attempt& attempt, observe::AttemptResult result,
                     const core::CompleteAttempt& report);

 private:
  void record_span(const Attempt& attempt, const core::CompleteAttempt& report);

  observe::Metrics& metrics_;
  observe::SpanExporter& spans_;
  const bool record_spans_;
};

}  // namespace hk::delivery
