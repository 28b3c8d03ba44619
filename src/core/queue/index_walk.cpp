// Along the index of a queue, from its first lane to its last, a bounded number of entries per
// batch: for what concerns every message that a queue has.
#include "base/sometimes.h"
#include "core/machine.h"

HK_SOMETIMES_DECLARE(index_walk_met_newer_messages)

namespace hk::core {

/// False: it goes on in the next batch. The reader does not show what this batch has done, but
/// entries keep their places, and the state says which messages are final.
bool Machine::walk_index(IndexWalk& walk, const Queue& queue, Seq up_to, std::size_t& budget,
                         const std::function<void(const LaneKey&, const LaneEntry&)>& visit) {
  while (budget > 0) {
    const std::size_t limit = budget;
    const auto entries = batch_.reader().lane_entries(walk.lane, walk.after, limit);
    bool lane_done = entries.size() < limit;
    for (const LaneEntry& entry : entries) {
      const bool newer = entry.place.seq > up_to;
      if (newer) {
        HK_SOMETIMES(index_walk_met_newer_messages);
        if (walk.lane.ordered()) {
          lane_done = true;
          break;
        }
      }
      --budget;
      walk.after = entry.place;
      if (!newer) {  // else by due time: an older one may come behind it
        visit(walk.lane, entry);
      }
    }
    if (queue.lag == 0) {
      return true;
    }
    if (!lane_done) {
      continue;
    }
    auto next = batch_.reader().next_lane(walk.lane);
    if (!next || next->tenant != queue.tenant || next->queue != queue.name) {
      return true;
    }
    walk.lane = std::move(*next);
    walk.after.reset();
    budget -= budget > 0 ? 1 : 0;  // the step to another lane costs a read, too
  }
  return false;
}

}  // namespace hk::core
