// What fair queues must mean: of a queue without order, the group that has the fewest messages out
// goes first, so that one that sends much does not hold up the others.
#include <algorithm>

#include "base/sometimes.h"
#include "sim/model.h"
#include "sim/trace.h"

HK_SOMETIMES_DECLARE(quiet_group_went_first)

namespace hk::sim {

void Model::note_depth(const core::LaneKey& key, const PullLane& lane) {
  if (lane.all.size() >= limits_.lane_window_min) {
    deep_.insert(key);
  }
}

/// How many of the lane receivers have.
std::size_t Model::out_of(const PullLane& lane) const {
  const auto hidden = lane.by_due.upper_bound({time_, core::Seq{UINT64_MAX}});
  return static_cast<std::size_t>(std::count_if(hidden, lane.by_due.end(), [this](const auto& one) {
    return messages_.at(one.second).attempts > 0;
  }));
}

/// It is being handed out: no group that has less out has something visible.
void Model::check_fair(const ModelMessage& message) const {
  const core::Message& content = *message.content;
  const core::LaneKey own = core::lane_of(content);
  if (content.pull->fifo || deep_.contains(own) ||
      not_hidden_.contains({content.tenant, content.queue})) {
    return;
  }
  const std::size_t out = out_of(pull_lanes_.at(own));
  for (auto lane = pull_lanes_.lower_bound({content.tenant, content.queue, {}, {}, {}});
       lane != pull_lanes_.end() && lane->first.tenant == content.tenant &&
       lane->first.queue == content.queue;
       ++lane) {
    if (lane->first == own || lane->first.ordered() || deep_.contains(lane->first) ||
        lane->second.by_due.begin()->first > time_) {
      continue;
    }
    const std::size_t others = out_of(lane->second);
    if (others > out) {
      HK_SOMETIMES(quiet_group_went_first);
    }
    require(others >= out, "fair queues",
            describe(message) + " went out of a group with " + std::to_string(out) +
                " in flight; group \"" + lane->first.group + "\" with " + std::to_string(others) +
                " has something visible");
  }
}

}  // namespace hk::sim
