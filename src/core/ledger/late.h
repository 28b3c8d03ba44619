/// Late movements: those that became effective before another that was recorded earlier. They are
/// in a tree by (effective_at, seq) with sums, so that one more touches a leaf and its ancestors,
/// and a sum up to a moment reads one way down.
#pragma once

#include <functional>
#include <optional>

#include "core/ledger/record.h"

namespace hk::core::ledger {

/// Where the nodes of one account and currency are.
class LateNodes {
 public:
  LateNodes() = default;
  LateNodes(const LateNodes&) = delete;
  LateNodes& operator=(const LateNodes&) = delete;
  virtual ~LateNodes() = default;
  /// REQUIRES: it is there. Throws CorruptRecord.
  virtual Late get(std::uint64_t node) = 0;
  virtual void put(Late node) = 0;
};

/// `root` and `last_node` are those of the Standing, and are changed.
void insert_late(LateNodes& nodes, const Late& prototype, std::uint64_t& root,
                 std::uint64_t& last_node, const Movement& movement);

/// The sum of those with effective_at <= effective and seq <= seq.
Counters128 late_sum(LateNodes& nodes, std::uint64_t root, Instant effective, std::uint64_t seq);

/// In their order, from <= effective_at; until `each` says false.
void each_late(LateNodes& nodes, std::uint64_t root, Instant from,
               const std::function<bool(const Movement&)>& each);

}  // namespace hk::core::ledger
