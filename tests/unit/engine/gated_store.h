/// A store whose syncs wait for the test: what must not happen before durability can be watched.
/// The simulated store behind a lock, because the engine uses it from two threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/memory/sim_store.h"

namespace hk::engine {

class GatedStore final : public store::Store {
 public:
  Result<store::BatchSeq> write(std::span<const store::Write> batch) override {
    const std::lock_guard lock(mutex_);
    auto written = store_.write(batch);
    changed_.notify_all();
    return written;
  }
  Result<store::BatchSeq> sync() override {
    std::unique_lock lock(mutex_);
    ++syncs_waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --syncs_waiting_;
    return store_.sync();
  }
  std::unique_ptr<store::Reader> snapshot() override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<LockedReader>(*this, store_.snapshot());
  }
  [[nodiscard]] store::BatchSeq last_written() const override {
    std::unique_lock lock(mutex_);
    if (std::this_thread::get_id() != maker_) {
      const auto before = store_.last_written();
      changed_.wait_for(lock, late_, [&] { return store_.last_written() > before; });
    }
    return store_.last_written();
  }

  /// A thread of the engine that asks what was written last hears of the next batch, too: as if it
  /// had been late.
  void make_threads_late() { late_ = std::chrono::seconds{5}; }

  void close_gate() { set_gate(false); }
  void open_gate() { set_gate(true); }
  void wait_until_a_sync_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return syncs_waiting_ > 0; });
  }
  /// With the lock held, so that the engine's threads are not in the middle of something.
  template <class Function>
  auto with(Function&& function) {
    const std::lock_guard lock(mutex_);
    return function(store_);
  }

 private:
  class LockedReader final : public store::Reader {
   public:
    LockedReader(GatedStore& owner, std::unique_ptr<store::Reader> reader)
        : owner_(owner), reader_(std::move(reader)) {}
    ~LockedReader() override {
      const std::lock_guard lock(owner_.mutex_);
      reader_.reset();
    }
    Result<std::optional<std::string>> get(store::Table table, std::string_view key) override {
      const std::lock_guard lock(owner_.mutex_);
      return reader_->get(table, key);
    }
    Result<std::vector<store::Entry>> scan(store::Table table, std::string_view from,
                                           std::string_view to, std::size_t limit,
                                           bool reverse) override {
      const std::lock_guard lock(owner_.mutex_);
      return reader_->scan(table, from, to, limit, reverse);
    }

   private:
    GatedStore& owner_;
    std::unique_ptr<store::Reader> reader_;
  };

  void set_gate(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  const std::thread::id maker_ = std::this_thread::get_id();
  std::chrono::milliseconds late_{0};
  store::SimStore store_;
  bool open_ = true;
  int syncs_waiting_ = 0;
};

}  // namespace hk::engine
