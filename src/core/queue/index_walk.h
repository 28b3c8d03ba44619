/// Along the index of a queue, from its first lane to its last, a bounded number of entries per
/// batch: for what concerns every message that a queue has.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/batch.h"

namespace hk::core {

/// How far one has come.
struct IndexWalk {
  LaneKey lane{};
  std::optional<LanePlace> after{};

  explicit IndexWalk(const Queue& queue) : lane{queue.tenant, queue.name, {}, {}, {}} {}

  /// Visits the messages up to `up_to`. False: it goes on in the next batch. The reader does not
  /// show what this batch has done, but entries keep their places, and the state says which
  /// messages are final.
  bool go_on(Batch& batch, const Queue& queue, Seq up_to, std::size_t& budget,
             const std::function<void(const LaneKey&, const LaneEntry&)>& visit);
};

}  // namespace hk::core
