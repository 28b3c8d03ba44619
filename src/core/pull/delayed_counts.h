/// How many messages of each queue that is pulled from are not due yet, and how that is stored: a
/// record for each second in which something becomes due. Part of Pulls.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/batch.h"
#include "core/pull/delayed.h"
#include "core/queue/key.h"

namespace hk::core {

class DelayedCounts {
 public:
  void recover(Reader& reader);
  void flush(Batch& batch);

  [[nodiscard]] bool has(const QueueKey& queue) const { return delayed_.contains(queue); }
  [[nodiscard]] bool empty() const { return delayed_.empty(); }
  [[nodiscard]] std::uint64_t count(const QueueKey& queue, Moment now) const;
  /// One that was due then is due at another time; what is due now or was so is not counted.
  void change(const QueueKey& queue, Moment before, Moment due, Moment now);
  /// Now and then, so that a queue does not remember all the seconds that there were.
  void forget_past(Moment now);
  void forget(const QueueKey& queue);

 private:
  std::map<QueueKey, Delayed> delayed_;
  std::set<std::pair<QueueKey, Moment>> dirty_;  ///< with the second
  Moment next_check_{};
};

}  // namespace hk::core
