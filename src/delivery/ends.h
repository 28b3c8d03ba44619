/// What becomes of the end of an attempt: a report to the engine that asked for it, with its count,
/// span and log line; or a plain value for whoever sends without an engine. One per dispatcher, on
/// its I/O thread.
#pragma once

#include <cstddef>
#include <utility>

#include "delivery/attempt.h"
#include "delivery/outbox.h"
#include "delivery/report.h"

namespace hk::delivery {

class Ends {
 public:
  Ends() = default;
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  virtual ~Ends() = default;

  virtual void add(const Attempt& attempt, observe::AttemptResult result,
                   core::CompleteAttempt report) = 0;
  /// From the dispatcher's tick: offers again what was not taken.
  virtual void flush() {}
  [[nodiscard]] virtual std::size_t unsent() const { return 0; }
};

/// What calling back may write: both bodies, as base64.
inline std::size_t callback_bytes(const core::Message& message,
                                  const core::CompleteAttempt& report) {
  return message.callback || message.failure_callback
             ? (message.body.size() + report.attempt.response_body.size()) / 3 * 4
             : 0;
}

class EngineEnds final : public Ends {
 public:
  EngineEnds(boost::asio::io_context& io, engine::Submitter& submitter, observe::Metrics& metrics,
             observe::SpanExporter& spans, bool record_spans)
      : reporter_(metrics, spans, record_spans), outbox_(io, submitter) {}

  void add(const Attempt& attempt, observe::AttemptResult result,
           core::CompleteAttempt report) override {
    reporter_.attempt_ended(attempt, result, report);
    const std::size_t writes_more = callback_bytes(*attempt.start().message, report);
    outbox_.add(std::move(report), writes_more, attempt.seat());
  }
  void flush() override { outbox_.flush(); }
  [[nodiscard]] std::size_t unsent() const override { return outbox_.unsent(); }

 private:
  Reporter reporter_;
  Outbox outbox_;
};

class PlainEnds final : public Ends {
 public:
  explicit PlainEnds(TakeEnd take) : take_(std::move(take)) {}

  void add(const Attempt& attempt, observe::AttemptResult result,
           core::CompleteAttempt report) override {
    take_(attempt.start(), result, std::move(report));
  }

 private:
  TakeEnd take_;
};

}  // namespace hk::delivery
