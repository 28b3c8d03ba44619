#include "store/rocksdb/witness_keeper.h"

namespace hk::store {
namespace {

constexpr std::chrono::milliseconds burst_end{10};

}  // namespace

WitnessKeeper::WitnessKeeper(WitnessFile file)
    : durable_(file.link()),
      wanted_(file.link()),
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

void WitnessKeeper::begin() {
  {
    const std::scoped_lock lock(mutex_);
    wanted_ = durable_;
    if (wanted_.seq <= done_.seq) {
      return;
    }
  }
  wake_.notify_one();
}

Result<void> WitnessKeeper::finish(const Link& durable) {
  std::unique_lock lock(mutex_);
  durable_ = durable;
  last_group_ = std::chrono::steady_clock::now();
  if (asleep_ && durable_.seq > done_.seq) {
    wake_.notify_one();  // it keeps the 10 ms from here
  }
  return wait_for_written(lock);
}

Result<void> WitnessKeeper::level() {
  std::unique_lock lock(mutex_);
  wanted_ = durable_;
  if (wanted_.seq > done_.seq) {
    wake_.notify_one();
  }
  return wait_for_written(lock);
}

Result<void> WitnessKeeper::wait_for_written(std::unique_lock<std::mutex>& lock) {
  written_.wait(lock, [this] { return done_.seq >= wanted_.seq || error_; });
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
    if (wanted_.seq > done_.seq) {
      const Link link = wanted_;
      lock.unlock();
      auto result = file_.write(link);
      lock.lock();
      if (result) {
        done_ = link;
      } else {
        error_ = result.error();
      }
      written_.notify_all();
    } else if (durable_.seq > done_.seq) {
      if (std::chrono::steady_clock::now() >= last_group_ + burst_end) {
        wanted_ = durable_;
      } else {
        wake_.wait_until(lock, last_group_ + burst_end);
      }
    } else {
      asleep_ = true;
      wake_.wait(lock);
      asleep_ = false;
    }
  }
}

}  // namespace hk::store
