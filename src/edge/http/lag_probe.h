/// Measures how far an I/O thread is behind: it stands in line itself behind the sockets that are
/// ready now, in the longest line, and how long it takes until its turn is how long a request that
/// has just arrived there waits before anybody reads it. That wait is not seen elsewhere. On the
/// I/O thread only.
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include "edge/http/counter.h"
#include "edge/http/server.h"
#include "net/poll_set.h"

namespace hk::http {

class LagProbe final : public net::PollSet::Watched {
 public:
  /// `requests`: how many this thread has read.
  LagProbe(net::PollSet& sockets, const Counter& requests);
  ~LagProbe() { sockets_.forget(*this); }
  LagProbe(const LagProbe&) = delete;
  LagProbe& operator=(const LagProbe&) = delete;

  void watch(LagWatcher told) { told_ = std::move(told); }
  /// Measures once, and again at once as long as there is much to do. Does nothing while a
  /// measurement is under way.
  void measure();
  /// The last one. From any thread.
  [[nodiscard]] std::chrono::nanoseconds lag() const {
    return std::chrono::nanoseconds(lag_.load(std::memory_order_relaxed));
  }

 private:
  void on_readable(bool last) override;

  net::PollSet& sockets_;
  const Counter& requests_;
  std::uint64_t requests_before_ = 0;
  LagWatcher told_{};
  bool under_way_ = false;
  std::chrono::steady_clock::time_point begun_{};
  std::atomic<std::int64_t> lag_{0};
};

}  // namespace hk::http
