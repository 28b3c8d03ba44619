/// Measures how far an I/O thread is behind: an event of its own is put in line behind the sockets
/// that are ready now, and how long it takes until its turn is how long a request that has just
/// arrived waits before anybody reads it. That wait is not seen elsewhere, since it happens in the
/// kernel's list of ready sockets. On the I/O thread only.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <utility>

#include "edge/http/counter.h"
#include "edge/http/server.h"

namespace hk::http {

class LagProbe {
 public:
  /// `requests`: how many this thread has read.
  LagProbe(boost::asio::io_context& context, const Counter& requests);

  void watch(LagWatcher told) { told_ = std::move(told); }
  /// Measures once, and again at once as long as there is much to do. Does nothing while a
  /// measurement is under way.
  void measure();
  /// The last one. From any thread.
  [[nodiscard]] std::chrono::nanoseconds lag() const {
    return std::chrono::nanoseconds(lag_.load(std::memory_order_relaxed));
  }

 private:
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> event_;
  const Counter& requests_;
  std::uint64_t requests_before_ = 0;
  LagWatcher told_{};
  bool under_way_ = false;
  std::atomic<std::int64_t> lag_{0};
};

}  // namespace hk::http
