#include "api/call.h"

#include <utility>

#include "base/assert.h"
#include "observe/metrics.h"

namespace hk::api {

Answer::Answer(http::Responder respond, observe::Metrics& metrics)
    : respond_(std::move(respond)), metrics_(&metrics), start_(std::chrono::steady_clock::now()) {}

Answer::Answer(Answer&& other) noexcept
    : respond_(std::move(other.respond_)),
      metrics_(other.metrics_),
      start_(other.start_),
      pending_(std::exchange(other.pending_, false)) {}

void Answer::operator()(http::Response response) {
  HK_ASSERT(pending_);
  pending_ = false;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  metrics_->request(response.status, taken.count());
  respond_(std::move(response));
}

Moment Services::now() const {
  if (options.now) {
    return options.now();
  }
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

}  // namespace hk::api
