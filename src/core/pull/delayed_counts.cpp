#include "core/pull/delayed_counts.h"

#include <utility>

namespace hk::core {

std::uint64_t DelayedCounts::count(const QueueKey& queue, Moment now) const {
  const auto found = delayed_.find(queue);
  return found == delayed_.end() ? 0 : found->second.count(now);
}

void DelayedCounts::change(const QueueKey& queue, Moment before, Moment due, Moment now) {
  if (before > now) {
    const auto found = delayed_.find(queue);
    if (found != delayed_.end() && found->second.remove(before)) {
      dirty_.insert({queue, Delayed::second_of(before)});
    }
  }
  if (due > now) {
    delayed_[queue].add(due);
    dirty_.insert({queue, Delayed::second_of(due)});
  }
}

void DelayedCounts::forget_past(Moment now) {
  if (now < next_check_) {
    return;
  }
  next_check_ = now + std::chrono::seconds{1};
  for (auto at = delayed_.begin(); at != delayed_.end();) {
    for (const Moment second : at->second.forget(now)) {
      dirty_.insert({at->first, second});
    }
    at = at->second.empty() ? delayed_.erase(at) : std::next(at);
  }
}

void DelayedCounts::forget(const QueueKey& queue) {
  const auto found = delayed_.find(queue);
  if (found == delayed_.end()) {
    return;
  }
  for (const Moment second : found->second.forget(never)) {
    dirty_.insert({queue, second});
  }
  delayed_.erase(found);
}

void DelayedCounts::flush(Batch& batch) {
  for (const auto& [key, second] : dirty_) {
    const auto& [tenant, queue] = key;
    const auto found = delayed_.find(key);
    auto slots = found == delayed_.end() ? std::vector<DelayedSecond::Slot>{}
                                         : found->second.in_second(second);
    if (slots.empty()) {
      batch.erase<DelayedSecond>(tenant, second, queue);
    } else {
      batch.put(Put<DelayedSecond>{{tenant, second, queue, std::move(slots)}});
    }
  }
  dirty_.clear();
}

void DelayedCounts::recover(Reader& reader) {
  for (const DelayedSecond& stored : reader.scan<DelayedSecond>()) {
    Delayed& delayed = delayed_[{stored.tenant, stored.queue}];
    for (const DelayedSecond::Slot& slot : stored.slots) {
      delayed.add(stored.second + Millis{slot.ms}, slot.count);
    }
  }
}

}  // namespace hk::core
