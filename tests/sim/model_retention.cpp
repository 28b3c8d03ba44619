// When what is too old must be gone.
#include <algorithm>

#include "sim/model.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

constexpr Millis noted_late{1000};  // ends are noted in whole seconds

}  // namespace

/// From when on a sweep must find it; never: something else ends it.
Moment Model::ends_at(const ModelMessage& message) const {
  const core::Message& content = *message.content;
  if (core::is_final(message.status)) {
    // One with callbacks stays until the last of them has ended.
    return content.callback || content.failure_callback ? never : message.expires_at;
  }
  if (!message.pulled() || swept(content)) {
    return never;
  }
  const auto queue = queues_.find({content.tenant, content.queue});
  if (queue == queues_.end() || !queue->second.pull) {
    return never;
  }
  // It must be findable in the index first.
  const Moment findable = content.created_at + 2 * limits_.index_after;
  return std::max(content.pull->sent_at + queue->second.pull->retention, findable);
}

void Model::note_end(const ModelMessage& message) {
  if (const Moment end = ends_at(message); end != never) {
    ends_.insert({end, message.seq()});
  }
}

/// A server that has nothing to do has looked for what is too old within the last round, and only
/// what came just before that look can have been left: it was too young to be found in the index.
/// All that could get in the way of what was too old before was findable by then.
void Model::check_nothing_outlives_its_retention(Moment time) {
  const Millis round = std::max(limits_.expiry_poll, limits_.index_after);
  if (!idle_.empty() && time < idle_.back() + round) {
    return;
  }
  idle_.push_back(time);
  while (idle_.size() > 1 && idle_[1] + round <= time) {
    idle_.pop_front();
  }
  if (idle_.front() + round > time) {
    return;
  }
  const Moment over = idle_.front() - limits_.index_after - noted_late;
  const auto still = [&](Moment end) {
    return " should have been gone at " + std::to_string(to_ms(end)) + ", and it is " +
           std::to_string(to_ms(time));
  };
  while (!ends_.empty() && ends_.begin()->first <= over) {
    const auto found = messages_.find(ends_.begin()->second);
    ends_.erase(ends_.begin());
    if (found == messages_.end()) {
      continue;
    }
    const Moment end = ends_at(found->second);
    require(end > over, "retention", describe(found->second) + still(end));
    note_end(found->second);
  }
  while (!dedup_ends_.empty() && dedup_ends_.begin()->first <= over) {
    const auto found = dedups_.find(dedup_ends_.begin()->second);
    dedup_ends_.erase(dedup_ends_.begin());
    if (found != dedups_.end()) {
      require(found->second.expires_at > over, "retention",
              "dedup id " + found->first.second + still(found->second.expires_at));
    }
  }
}

}  // namespace hk::sim
