/// Counts and sums of observed seconds by bucket, without a lock (that of prometheus-cpp takes one
/// for each observation). Observed from any thread; read when scraped.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "prometheus/client_metric.h"

namespace hk::observe {

class Histogram {
 public:
  /// From a fast commit to the longest wait for a retry: 0.1 ms to a day, finest where work is
  /// usual.
  static constexpr std::array<double, 24> bounds = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,  0.5,
      1,      2.5,     5,      10,    30,     60,    120,  300,   900,  3600, 21600, 86400};

  void observe(double seconds) {
    if (!(seconds >= 0)) {  // a clock that was set back; a sum that has once met NaN stays NaN
      seconds = 0;
    }
    std::size_t bucket = 0;
    while (bucket < bounds.size() && seconds > bounds[bucket]) {
      ++bucket;
    }
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(seconds, std::memory_order_relaxed);
  }

  /// The count is the sum of the buckets that were read, so that a scrape agrees with itself.
  /// `units` in a second: bounds and sum are given in that unit.
  [[nodiscard]] prometheus::ClientMetric collect(double units = 1) const;

 private:
  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
  std::atomic<double> sum_{0};
};

}  // namespace hk::observe
