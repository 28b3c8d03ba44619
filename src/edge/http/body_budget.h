/// How many bytes of request bodies a server holds: of requests that are being read and of those
/// that are not answered yet. Bytes count as they arrive, because a length that is only announced
/// costs its sender nothing. Shared by all I/O threads; counting is one atomic operation.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "base/assert.h"

namespace hk::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool has_room_for(std::size_t bytes) const { return held() + bytes <= bytes_max_; }
  [[nodiscard]] std::size_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  friend class BodyShare;

  bool take(std::size_t bytes) {
    if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

  const std::size_t bytes_max_;
  std::atomic<std::size_t> held_{0};
};

/// What one request holds of it; given back when this ends. REQUIRES: the budget outlives it.
class BodyShare {
 public:
  BodyShare() = default;
  explicit BodyShare(BodyBudget& budget) : budget_(&budget) {}
  BodyShare(BodyShare&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyShare& operator=(BodyShare&& other) noexcept {
    if (this != &other) {
      release();
      budget_ = other.budget_;
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  ~BodyShare() { release(); }

  /// False when the budget does not allow it; then nothing has changed.
  [[nodiscard]] bool grow_to(std::size_t bytes) {
    if (bytes <= bytes_) return true;
    HK_ASSERT(budget_ != nullptr);
    if (!budget_->take(bytes - bytes_)) return false;
    bytes_ = bytes;
    return true;
  }
  void release() {
    if (bytes_ != 0) budget_->give_back(std::exchange(bytes_, 0));
  }

 private:
  BodyBudget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hk::http
