#include "core/pull/receive_attempts.h"

#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(receive_attempt_forgotten)

namespace hk::core {

Given* ReceiveAttempts::find(const QueueKey& queue, const std::string& id, Moment now) {
  forget_old(queue, now);
  const auto attempts = queues_.find(queue);
  if (attempts == queues_.end()) {
    return nullptr;
  }
  const auto given = attempts->second.by_id.find(id);
  return given == attempts->second.by_id.end() ? nullptr : &given->second;
}

void ReceiveAttempts::note(const QueueKey& queue, const std::string& id, Given given, Moment now) {
  OfQueue& attempts = queues_[queue];
  attempts.by_end.emplace_back(given.until, id);
  attempts.by_id[id] = std::move(given);
  forget_old(queue, now);
}

/// Those that are too old, and the oldest of those that are too many.
void ReceiveAttempts::forget_old(const QueueKey& queue, Moment now) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) {
    return;
  }
  auto& [by_id, by_end] = found->second;
  while (!by_end.empty() && (by_end.front().first <= now || by_end.size() > per_queue_max_)) {
    HK_SOMETIMES(receive_attempt_forgotten);
    const auto& [until, id] = by_end.front();
    // An id that was used again has a later end, too.
    if (const auto noted = by_id.find(id); noted != by_id.end() && noted->second.until == until) {
      by_id.erase(noted);
    }
    by_end.pop_front();
  }
  if (by_end.empty()) {
    queues_.erase(found);
  }
}

}  // namespace hk::core
