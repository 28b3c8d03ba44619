// Flow keys as they stand. What is stored says nothing of what waits and runs now.
#include <iterator>
#include <string>

#include "core/flow/flow_keys.h"
#include "core/lane/lanes.h"

namespace hk::core {

namespace {

/// Waiting messages that are only in the index are counted one by one: so many per command, and
/// then the number is a lower bound.
constexpr std::size_t counted_in_index_max = 10'000;
/// Everybody waits while keys are looked at, whether they are searched for or not.
constexpr std::size_t looked_at_max = 1'000;

constexpr LanePlace last_place_at(Moment due) { return {due, Seq{UINT64_MAX}}; }

}  // namespace

/// Whoever waits for the key stands parked at its gate: nothing else is looked at. Of a queue only
/// the first message does; those behind it wait for their turn.
FlowKeyView FlowKeys::view_of(const FlowKey& flow_key, std::size_t& budget) {
  FlowKeyView view{.flow = flow_key};
  const Gate& gate = gate_of(flow_key);
  const Moment now = batch_.now();
  view.running = gate.in_use;
  view.flow.window_start = gate.window_start;
  view.flow.window_count = now < gate.window_start + gate.period ? gate.window_count : 0;
  const LanePlace due_now = last_place_at(now);
  for (const Lane* lane : gate.parked) {
    if (lane->ordered()) {
      ++view.waiting;
      continue;
    }
    view.waiting += static_cast<std::uint64_t>(
        std::distance(lane->window.begin(), lane->window.upper_bound(due_now)));
    if (lane->more && lane->cursor <= due_now && budget > 0) {
      for (const LaneEntry& entry : batch_.reader().lane_entries(lane->key, lane->cursor, budget)) {
        if (entry.place > due_now) {
          break;
        }
        --budget;
        if (lanes_.find(entry.place.seq) == nullptr) {  // else it runs
          ++view.waiting;
        }
      }
    }
  }
  return view;
}

Reply FlowKeys::decide(const InspectFlowKeys& command) {
  std::size_t budget = counted_in_index_max;
  FlowKeysInspected answer;
  if (command.key) {
    const auto found = flow_keys_.find({command.tenant, *command.key});
    if (found == flow_keys_.end()) {
      return fail(ErrorKind::not_found, "flow-control key " + *command.key + " not found");
    }
    answer.keys.push_back(view_of(found->second, budget));
    return answer;
  }
  std::size_t looked_at = 0;
  for (auto at = flow_keys_.upper_bound({command.tenant, command.after});
       at != flow_keys_.end() && at->first.first == command.tenant; ++at) {
    if (++looked_at > looked_at_max) {
      answer.next = std::prev(at)->first.second;
      break;
    }
    if (at->first.second.find(command.search) != std::string::npos) {
      answer.keys.push_back(view_of(at->second, budget));
    }
  }
  return answer;
}

}  // namespace hk::core
