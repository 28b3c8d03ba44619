#include "edge/http/lag_probe.h"

#include <sys/eventfd.h>

namespace hk::http {

namespace {

/// With so many requests since the last measurement, or with a lag like this, the next one begins
/// at once: otherwise an idle thread would wake for nothing but this.
constexpr std::uint64_t many = 8;
constexpr std::chrono::milliseconds noticeable{2};

}  // namespace

LagProbe::LagProbe(boost::asio::io_context& context, const Counter& requests)
    : event_(context.get_executor()), requests_(requests) {
  // Always readable. Without a descriptor for it nothing is measured, and nothing refused.
  const int made = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  boost::system::error_code failure;
  if (made >= 0) event_.assign(made, failure);
}

void LagProbe::measure() {
  if (under_way_ || !event_.is_open()) return;
  under_way_ = true;
  const auto begun = std::chrono::steady_clock::now();
  // Waiting registers the descriptor anew, which puts it at the end of the kernel's list.
  event_.async_wait(event_.wait_read, [this, begun](const boost::system::error_code& failure) {
    under_way_ = false;
    if (failure) return;
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds lag = now - begun;
    lag_.store(lag.count(), std::memory_order_relaxed);
    if (told_) told_(now, lag);
    const std::uint64_t read = requests_.get() - std::exchange(requests_before_, requests_.get());
    if (read >= many || lag >= noticeable) measure();
  });
}

}  // namespace hk::http
