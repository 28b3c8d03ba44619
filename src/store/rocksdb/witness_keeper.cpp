#include "store/rocksdb/witness_keeper.h"

#include "store/crash_point.h"

namespace hk::store {

WitnessKeeper::WitnessKeeper(WitnessFile file)
    : durable_(file.link()),
      done_(file.link()),
      file_(std::move(file)),
      thread_([this] { run(); }) {}

WitnessKeeper::~WitnessKeeper() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Result<void> WitnessKeeper::finish(const Link& durable) {
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (error_) {
      return std::unexpected(*error_);
    }
    durable_ = durable;
    if (asleep_ && durable_.seq > done_.seq) {
      next_write_ = std::chrono::steady_clock::now() + lag_max;
      wake = true;
    }
  }
  if (wake) {
    wake_.notify_one();
  }
  return {};
}

Result<void> WitnessKeeper::level() {
  std::unique_lock lock(mutex_);
  next_write_ = {};
  wake_.notify_one();
  written_.wait(lock, [this] { return done_.seq >= durable_.seq || error_; });
  if (error_) {
    return std::unexpected(*error_);
  }
  return {};
}

BatchSeq WitnessKeeper::witnessed() {
  const std::scoped_lock lock(mutex_);
  return done_.seq;
}

void WitnessKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!stop_ && !error_) {
    if (durable_.seq <= done_.seq) {
      asleep_ = true;
      wake_.wait(lock);
      asleep_ = false;
    } else if (std::chrono::steady_clock::now() < next_write_) {
      wake_.wait_until(lock, next_write_);
    } else {
      const Link link = durable_;
      lock.unlock();
      crash_point(CrashPoint::witness_unwritten);
      auto result = file_.write(link);
      crash_point(CrashPoint::witness_written);
      lock.lock();
      if (result) {
        done_ = link;
      } else {
        error_ = result.error();
      }
      next_write_ = std::chrono::steady_clock::now() + lag_max;
      written_.notify_all();
    }
  }
}

}  // namespace hk::store
