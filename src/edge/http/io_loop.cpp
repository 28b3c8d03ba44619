#include "edge/http/io_loop.h"

#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

namespace hk::http {

namespace {
constexpr std::chrono::milliseconds wheel_tick{50};
}

IoLoop::IoLoop(std::size_t index, Hsts hsts)
    : index_(index),
      guard_(boost::asio::make_work_guard(context_)),
      timer_(context_),
      sockets_(context_),
      probe_(sockets_, counters_.requests_total),
      wheel_(Clock::now(), wheel_tick),
      common_(hsts) {}

IoLoop::~IoLoop() { stop(); }

void IoLoop::post(std::move_only_function<void()> work) {
  boost::asio::post(context_, std::move(work));
}

// Asio queues handlers first in, first out, and what a poll found ready is queued before anything
// that those handlers post: so posting is what "after the handlers that are ready now" means.
void IoLoop::defer(std::move_only_function<void()> work) { post(std::move(work)); }

void IoLoop::after(std::chrono::milliseconds delay, std::move_only_function<void()> work) {
  delayed_.emplace(Clock::now() + delay, std::move(work));
}

/// What a piece of work puts off again has its turn with a later tick.
void IoLoop::run_delayed() {
  std::vector<std::move_only_function<void()>> due;
  while (!delayed_.empty() && delayed_.begin()->first <= Clock::now()) {
    due.push_back(std::move(delayed_.begin()->second));
    delayed_.erase(delayed_.begin());
  }
  for (auto& work : due) {
    work();
  }
}

void IoLoop::start(std::function<void()> on_tick) {
  on_tick_ = std::move(on_tick);
  arm_tick();
  thread_ = std::thread([this] { context_.run(); });
}

void IoLoop::stop() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

std::string_view IoLoop::common_lines() { return common_.lines(std::time(nullptr)); }

void IoLoop::arm_tick() {
  timer_.expires_after(wheel_.tick());
  timer_.async_wait([this](const boost::system::error_code& failure) {
    if (failure) return;
    wheel_.advance(Clock::now());
    on_tick_();
    run_delayed();
    probe_.measure();
    arm_tick();
  });
}

}  // namespace hk::http
