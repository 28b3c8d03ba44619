#include "edge/http/lag_probe.h"

namespace hk::http {

namespace {

/// With so many requests since the last measurement, or with a lag like this, the next one begins
/// at once: otherwise an idle thread would wake for nothing but this.
constexpr std::uint64_t many = 8;
constexpr std::chrono::milliseconds noticeable{2};

}  // namespace

LagProbe::LagProbe(net::PollSet& sockets, const Counter& requests)
    : sockets_(sockets), requests_(requests) {}

void LagProbe::measure() {
  if (std::exchange(under_way_, true)) return;
  begun_ = std::chrono::steady_clock::now();
  sockets_.tell_behind_all(*this);
}

void LagProbe::on_readable(bool) {
  if (!std::exchange(under_way_, false)) return;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds lag = now - begun_;
  lag_.store(lag.count(), std::memory_order_relaxed);
  if (told_) told_(now, lag);
  const std::uint64_t read = requests_.get() - std::exchange(requests_before_, requests_.get());
  if (read >= many || lag >= noticeable) measure();
}

}  // namespace hk::http
