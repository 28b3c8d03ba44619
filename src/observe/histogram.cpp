#include "observe/histogram.h"

#include <limits>

namespace hk::observe {

prometheus::ClientMetric Histogram::collect(double units) const {
  prometheus::ClientMetric metric;
  std::uint64_t total = 0;
  metric.histogram.bucket.reserve(counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    prometheus::ClientMetric::Bucket bucket;
    bucket.cumulative_count = total;
    bucket.upper_bound =
        i < bounds.size() ? bounds[i] * units : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back(bucket);
  }
  metric.histogram.sample_count = total;
  metric.histogram.sample_sum = sum_.load(std::memory_order_relaxed) * units;
  return metric;
}

}  // namespace hk::observe
