/// The deliveries of an engine: takes its core::StartAttempt effects, decides which thread makes
/// each attempt, puts it into the envelope of its protocol, and reports how it ended as
/// core::CompleteAttempt. One dispatcher a thread; start(), stop() and the counters may be called
/// from any thread. Boost stays behind this header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/effect.h"
#include "delivery/dispatcher.h"
#include "delivery/envelope/identity.h"
#include "delivery/envelope/webhook_keys.h"
#include "engine/submitter.h"

namespace hk::observe {
class Metrics;
class SpanExporter;
}  // namespace hk::observe

namespace hk::delivery {

/// Who is told of attempts, and by what they are signed. All of it outlives the deliveries.
struct DeliveryMeans {
  engine::Submitter& submitter;
  SigningKeys keys{};
  observe::Metrics& metrics;
  observe::SpanExporter& spans;
  bool record_spans = true;  ///< false: no exporter is set, so do not build them
  WebhookSecrets webhook_secrets{};
  std::string_view version = "0";  ///< of the server, as webhooks say it
};

class Deliveries {
 public:
  /// `io_contexts`: at least one boost::asio::io_context*, each run by one thread. They outlive the
  /// deliveries, which must be destroyed after those threads have ended. What the dispatchers can
  /// share, they do. invalid_argument: the CA file cannot be used.
  static Result<std::unique_ptr<Deliveries>> make(DispatcherOptions options,
                                                  const std::vector<void*>& io_contexts,
                                                  const DeliveryMeans& means);
  /// Attempts still running are cut off without a report, as by a crash: their leases run out.
  ~Deliveries();
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  /// Wakes each thread that gets something once, however many attempts it gets. Every attempt is
  /// reported once, unless it is started after stop().
  void start(std::vector<core::StartAttempt> attempts);

  /// Dispatcher::stop() of all; `stopped` is called when the last one has, on its thread.
  void stop(std::chrono::steady_clock::time_point deadline,
            std::move_only_function<void()> stopped);

  [[nodiscard]] std::size_t in_flight() const;  ///< waiting for their turn included
  [[nodiscard]] std::size_t idle_connections() const;
  [[nodiscard]] std::uint64_t connections_opened() const;

 private:
  class Courier;
  Deliveries();

  std::vector<std::unique_ptr<Courier>> couriers_;  ///< constant after make()
};

}  // namespace hk::delivery
