/// A topic whose filters are read: what a publish works with. Made once for many publishes, and
/// shared. Pure, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/topic/filter_policy.h"
#include "core/topic/record.h"

namespace hk::core {

struct ReadTopic {
  Topic topic{};
  /// Of each subscription; nullopt: it wants everything.
  std::vector<std::optional<FilterPolicy>> filters{};

  /// invalid_argument: a filter is none.
  static Result<std::shared_ptr<const ReadTopic>> read(Topic topic);
  /// Throws CorruptRecord in that case.
  static std::shared_ptr<const ReadTopic> read_stored(Topic topic);
};

/// Of all its texts, roughly as many as it is stored with.
std::size_t bytes_of(const Topic& topic);
std::size_t bytes_of(const Subscription& subscription);

/// How a push to the subscription is tried again: as it says itself, or else as its topic does.
RetryPolicy retries_of(const std::optional<RetryPolicy>& of_topic,
                       const std::optional<RetryPolicy>& own);

}  // namespace hk::core
