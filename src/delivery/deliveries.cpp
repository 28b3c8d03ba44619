#include "delivery/deliveries.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "delivery/engine_reports.h"
#include "delivery/envelope/envelopes.h"
#include "engine/tenant_room.h"
#include "security/credentials.h"

namespace hk::delivery {

/// What one thread has. Everything but the constructor and start_later() is called on it.
class Deliveries::Courier {
 public:
  Courier(boost::asio::io_context& io, const DeliveryMeans& means)
      : io_(io),
        envelopes_(means.keys, security::random_seed(), means.webhook_secrets, means.version),
        reports_(io, means.submitter, means.metrics, means.spans, means.record_spans) {}

  Result<void> prepare(DispatcherOptions options) {
    auto made = Dispatcher::make(std::move(options), &io_, reports_);
    if (!made) {
      return std::unexpected(made.error());
    }
    dispatcher_ = *std::move(made);
    return {};
  }

  void start_later(std::vector<core::StartAttempt> attempts) {
    boost::asio::post(io_, [this, attempts = std::move(attempts)]() mutable {
      std::vector<Request> requests;
      requests.reserve(attempts.size());
      for (core::StartAttempt& attempt : attempts) {
        requests.push_back(request_of(std::move(attempt)));
      }
      dispatcher_->start(std::move(requests));
    });
  }

  [[nodiscard]] Dispatcher& dispatcher() const { return *dispatcher_; }

 private:
  Request request_of(core::StartAttempt attempt) {
    const core::Message& message = *attempt.message;
    Request request{.to = attempt.to,
                    .webhook = attempt.webhook,
                    .envelope = &envelopes_.of(message, attempt.to.get(), attempt.webhook.get()),
                    .tenant = attempt.tenant,
                    .partition = attempt.partition,
                    .id = attempt.id,
                    .fence = attempt.fence,
                    .retried = attempt.retried,
                    .span_id = attempt.span_id,
                    .started_at = attempt.started_at,
                    .timeout = attempt.to ? attempt.to->timeout : message.timeout,
                    .whole_answer = message.callback || message.failure_callback};
    if (attempt.lease_until != Moment{}) {
      // Both are partition time. The wall clock has no say here: when it is set forward, attempts
      // must not fail for it.
      request.lease = attempt.lease_until - attempt.started_at;
    }
    request.message = std::move(attempt.message);
    return request;
  }

  boost::asio::io_context& io_;
  Envelopes envelopes_;
  EngineReports reports_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

Deliveries::Deliveries() = default;
Deliveries::~Deliveries() = default;

Result<std::unique_ptr<Deliveries>> Deliveries::make(DispatcherOptions options,
                                                     const std::vector<void*>& io_contexts,
                                                     const DeliveryMeans& means) {
  HK_ASSERT(!io_contexts.empty());
  if (options.resolver == nullptr) {
    options.resolver = make_resolver();
  }
  if (options.answer_room == nullptr) {
    options.answer_room = std::make_shared<engine::TenantRoom>(long_answers_max);
  }
  std::unique_ptr<Deliveries> deliveries(new Deliveries);
  for (void* const io : io_contexts) {
    auto courier = std::make_unique<Courier>(*static_cast<boost::asio::io_context*>(io), means);
    if (auto prepared = courier->prepare(options); !prepared) {
      return std::unexpected(prepared.error());
    }
    deliveries->couriers_.push_back(std::move(courier));
  }
  return deliveries;
}

void Deliveries::start(std::vector<core::StartAttempt> attempts) {
  if (couriers_.size() == 1) {
    couriers_.front()->start_later(std::move(attempts));
    return;
  }
  std::vector<std::vector<core::StartAttempt>> by_thread(couriers_.size());
  for (core::StartAttempt& attempt : attempts) {
    // One destination, one thread: its connections are kept there.
    const std::string& host = attempt.to ? attempt.to->host : attempt.message->host;
    const std::size_t at = std::hash<std::string>{}(host) % couriers_.size();
    by_thread[at].push_back(std::move(attempt));
  }
  for (std::size_t i = 0; i < by_thread.size(); ++i) {
    if (!by_thread[i].empty()) {
      couriers_[i]->start_later(std::move(by_thread[i]));
    }
  }
}

void Deliveries::stop(std::chrono::steady_clock::time_point deadline,
                      std::move_only_function<void()> stopped) {
  struct Countdown {
    std::atomic<std::size_t> running;
    std::move_only_function<void()> stopped;
  };
  // The second owners are the dispatchers, until each has stopped.
  auto countdown = std::make_shared<Countdown>(couriers_.size(), std::move(stopped));
  for (const auto& courier : couriers_) {
    courier->dispatcher().stop(deadline, [countdown] {
      if (countdown->running.fetch_sub(1) == 1) {
        countdown->stopped();
      }
    });
  }
}

std::size_t Deliveries::in_flight() const {
  std::size_t sum = 0;
  for (const auto& courier : couriers_) {
    sum += courier->dispatcher().in_flight();
  }
  return sum;
}

std::size_t Deliveries::idle_connections() const {
  std::size_t sum = 0;
  for (const auto& courier : couriers_) {
    sum += courier->dispatcher().idle_connections();
  }
  return sum;
}

std::uint64_t Deliveries::connections_opened() const {
  std::uint64_t sum = 0;
  for (const auto& courier : couriers_) {
    sum += courier->dispatcher().connections_opened();
  }
  return sum;
}

}  // namespace hk::delivery
