#include "core/queue/index_walk.h"

#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(index_walk_met_newer_messages)

namespace hk::core {

bool IndexWalk::go_on(Batch& batch, const Queue& queue, Seq up_to, std::size_t& budget,
                      const std::function<void(const LaneKey&, const LaneEntry&)>& visit) {
  while (budget > 0) {
    const std::size_t limit = budget;
    const auto entries = batch.reader().lane_entries(lane, after, limit);
    bool lane_done = entries.size() < limit;
    for (const LaneEntry& entry : entries) {
      const bool newer = entry.place.seq > up_to;
      if (newer) {
        HK_SOMETIMES(index_walk_met_newer_messages);
        if (lane.ordered()) {
          lane_done = true;
          break;
        }
      }
      --budget;
      after = entry.place;
      if (!newer) {  // else by due time: an older one may come behind it
        visit(lane, entry);
      }
    }
    if (queue.lag == 0) {
      return true;
    }
    if (!lane_done) {
      continue;
    }
    auto next = batch.reader().next_lane(lane);
    if (!next || next->tenant != queue.tenant || next->queue != queue.name) {
      return true;
    }
    lane = std::move(*next);
    after.reset();
    budget -= budget > 0 ? 1 : 0;  // the step to another lane costs a read, too
  }
  return false;
}

}  // namespace hk::core
