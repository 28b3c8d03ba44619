/// A thread for long things (a backup), one after the other, so that no I/O thread waits for them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hk::cli {

class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stop(); }
  /// Waits for what runs; what has not begun is dropped, and so is what is posted from now on.
  /// `on_wait` is called if something runs.
  void stop(const std::function<void()>& on_wait = {}) {
    std::vector<std::move_only_function<void()>> dropped;  // ends here, without the lock
    bool waits = false;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      dropped.swap(queue_);
      waits = running_;
    }
    wake_.notify_one();
    if (waits && on_wait) {
      on_wait();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  void post(std::move_only_function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return;
      }
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) {
        return;
      }
      auto work = std::move(queue_.front());
      queue_.erase(queue_.begin());
      running_ = true;
      lock.unlock();
      work();
      work = nullptr;  // what it holds ends before anybody is told that it has
      lock.lock();
      running_ = false;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::move_only_function<void()>> queue_;
  bool stopping_ = false;
  bool running_ = false;
  std::thread thread_;
};

}  // namespace hk::cli
