/// One I/O thread of the server: an io_context, the thread that runs it, the deadlines and counters
/// of its connections. Everything but post(), defer() and the counters belongs to that thread.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "base/deadline_wheel.h"
#include "edge/http/counter.h"
#include "edge/http/lag_probe.h"
#include "edge/http/response_writer.h"
#include "edge/http/server.h"
#include "net/poll_set.h"

namespace hk::http {

using Clock = DeadlineWheel::Clock;

struct LoopCounters {
  Counter connections_open{};
  Counter connections_total{};
  Counter connections_refused{};
  Counter requests_total{};
  Counter requests_malformed{};
  Counter timeouts_total{};
  Counter bodies_refused{};
};

class IoLoop final : public IoThread {
 public:
  IoLoop(std::size_t index, Hsts hsts);
  ~IoLoop() override;

  void post(std::move_only_function<void()> work) override;
  void defer(std::move_only_function<void()> work) override;
  void after(std::chrono::milliseconds delay, std::move_only_function<void()> work) override;
  void watch_lag(LagWatcher told) override { probe_.watch(std::move(told)); }
  [[nodiscard]] std::size_t index() const override { return index_; }
  [[nodiscard]] void* io_context() override { return &context_; }

  /// Starts the thread. `on_tick` runs on it with every tick of the wheel.
  void start(std::function<void()> on_tick);
  /// Ends the thread, whatever is queued. Idempotent.
  void stop();

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] bool on_thread() { return context_.get_executor().running_in_this_thread(); }
  [[nodiscard]] net::PollSet& sockets() { return sockets_; }
  [[nodiscard]] DeadlineWheel& wheel() { return wheel_; }
  [[nodiscard]] std::chrono::nanoseconds lag() const { return probe_.lag(); }
  [[nodiscard]] LoopCounters& counters() { return counters_; }
  [[nodiscard]] const LoopCounters& counters() const { return counters_; }
  [[nodiscard]] std::string_view common_lines();
  [[nodiscard]] bool draining() const { return draining_; }
  void set_draining() { draining_ = true; }
  /// Connections whose socket or pending operations still need this loop.
  void connection_made() { live_.add(); }
  void connection_gone() { live_.subtract(); }
  [[nodiscard]] std::uint64_t live_connections() const { return live_.get(); }

 private:
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  boost::asio::io_context::executor_type>;
  void arm_tick();
  void run_delayed();

  const std::size_t index_;
  LoopCounters counters_{};
  Counter live_{};
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  Timer timer_;
  net::PollSet sockets_;
  LagProbe probe_;
  DeadlineWheel wheel_;
  CommonHeaders common_;
  std::function<void()> on_tick_{};
  std::multimap<Clock::time_point, std::move_only_function<void()>> delayed_{};
  bool draining_ = false;
  std::thread thread_{};
};

}  // namespace hk::http
