/// A number that one I/O thread counts and any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace hk::http {

/// Written by one thread, read by any: no locked instruction is needed.
class Counter {
 public:
  void add(std::uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void subtract() { add(~std::uint64_t{0}); }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace hk::http
