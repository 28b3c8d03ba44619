/// Work on queues that takes many batches. Pure.
#pragma once

#include <algorithm>
#include <cstddef>

namespace hk::core {

/// In a batch: more would only be more reads for the same number of messages.
constexpr std::size_t turns_per_batch = 16;

/// Each in its turn, after `last`, for its part of the batch: a large queue must not hold up the
/// others. `step` uses up what it needs of the part that it is given; true: that one is done, and
/// is erased.
template <class Works, class Step>
void in_turn(Works& works, typename Works::key_type& last, std::size_t budget, Step step) {
  const std::size_t turns = std::min(works.size(), turns_per_batch);
  const std::size_t part = std::max<std::size_t>(budget / std::max<std::size_t>(turns, 1), 1);
  for (std::size_t turn = 0; turn < turns && budget > 0; ++turn) {
    auto next = works.upper_bound(last);
    next = next == works.end() ? works.begin() : next;
    last = next->first;
    const std::size_t given = std::min(budget, part);
    std::size_t left = given;
    const bool done = step(next->first, next->second, left);
    budget -= given - left;
    if (done) {
      works.erase(next);
    }
  }
}

}  // namespace hk::core
