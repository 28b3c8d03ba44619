#include "delivery/threads.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "base/assert.h"

namespace hk::delivery {

class Threads::Loop {
 public:
  Loop() : thread_([this] { context_.run(); }) {}
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void stop() {
    context_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  boost::asio::io_context& context() { return context_; }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      boost::asio::make_work_guard(context_)};
  std::thread thread_;
};

Threads::Threads() = default;
Threads::~Threads() = default;

void Threads::start(std::size_t count) {
  HK_ASSERT(loops_.empty() && count > 0);
  for (std::size_t i = 0; i < count; ++i) {
    loops_.push_back(std::make_unique<Loop>());
  }
}

void Threads::stop() {
  for (const auto& loop : loops_) {
    loop->stop();
  }
}

std::vector<void*> Threads::contexts() const {
  std::vector<void*> all;
  for (const auto& loop : loops_) {
    all.push_back(&loop->context());
  }
  return all;
}

}  // namespace hk::delivery
