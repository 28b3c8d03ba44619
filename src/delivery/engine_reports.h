/// How attempts ended, for the engine that asked for them: each answer becomes a
/// core::CompleteAttempt, and for the outside a count, a span, and a log line when it failed. Never
/// a body, a query string or a secret there. One per dispatcher, on its I/O thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>

#include "core/command.h"
#include "delivery/outbox.h"
#include "delivery/request.h"
#include "engine/submitter.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::delivery {

class EngineReports final : public AnswerTaker {
 public:
  EngineReports(boost::asio::io_context& io, engine::Submitter& submitter,
                observe::Metrics& metrics, observe::SpanExporter& spans, bool record_spans)
      : metrics_(metrics), spans_(spans), record_spans_(record_spans), outbox_(io, submitter) {}

  void take(const Request& request, Answer answer) override;
  void flush() override { outbox_.flush(); }
  [[nodiscard]] std::size_t unsent() const override { return outbox_.unsent(); }

 private:
  /// Nothing was sent, and no receiver is to blame: no attempt to count.
  static void tell_of_trouble(const Request& request, const core::Attempt& attempt);
  void tell(const Request& request, const Answer& answer, const core::Attempt& attempt);
  void record_span(const Request& request, const Answer& answer, const core::Attempt& attempt);

  observe::Metrics& metrics_;
  observe::SpanExporter& spans_;
  const bool record_spans_;
  Outbox outbox_;
};

}  // namespace hk::delivery
