/// A scheduler by itself, with messages by number: for the tests of lanes and gates.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/lane/scheduler.h"
#include "unit/core/rig.h"

namespace hk::core::testing {

inline const Moment yard_time = moment_from_ms(1000);

/// Messages by number, waiting where they are told to.
struct Yard {
  explicit Yard(const Limits& given = {}) : limits(given), scheduler(limits) {}

  Live& add(std::uint64_t seq, const LaneKey& key, Moment due = yard_time) {
    Live& live = lives[seq];
    live.seq = Seq{seq};
    live.lane = &scheduler.lane(key);
    live.not_before = due;
    live.place = {key.ordered() ? Moment{} : due, Seq{seq}};
    placed = scheduler.place(live, yard_time);
    return live;
  }
  std::vector<std::uint64_t> start_all(Moment at = yard_time) {
    std::vector<std::uint64_t> started;
    scheduler.advance(at);
    while (Live* live = scheduler.start_next(at)) {
      started.push_back(live->seq.value());
    }
    return started;
  }
  void end(std::uint64_t seq, Moment at = yard_time) {
    scheduler.release(lives.at(seq), at);
    scheduler.finish(lives.at(seq), at);
    lives.erase(seq);
  }

  Limits limits;
  Scheduler scheduler;
  std::map<std::uint64_t, Live> lives;
  Scheduler::Placed placed;
};

inline LaneKey to_host(std::string host, std::uint32_t tenant = 1, std::string flow = {}) {
  return {TenantId{tenant}, {}, {}, std::move(flow), std::move(host)};
}
inline LaneKey of_queue(std::string queue, std::string group = {}) {
  return {TenantId{1}, std::move(queue), std::move(group), {}, {}};
}

}  // namespace hk::core::testing
