#include "core/lane/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(lane_window_evicted)
HK_SOMETIMES_DECLARE(lane_parked_at_flow_gate)
HK_SOMETIMES_DECLARE(lane_parked_at_destination_gate)
HK_SOMETIMES_DECLARE(lane_parked_at_queue_gate)
HK_SOMETIMES_DECLARE(pusher_at_its_parallelism)
HK_SOMETIMES_DECLARE(queue_parked_at_destination_gate)
HK_SOMETIMES_DECLARE(turn_handed_on)
HK_SOMETIMES_DECLARE(background_lane_waits)
HK_SOMETIMES_DECLARE(tenant_at_its_parallelism)

namespace hk::core {

std::size_t Scheduler::window_size() const {
  const std::size_t share = limits_.window_budget / std::max<std::size_t>(lanes_.size(), 1);
  return std::clamp(share, limits_.lane_window_min, limits_.lane_window_max);
}

// ---- waiting ----

Scheduler::Placed Scheduler::place(Live& live, Moment now) {
  Lane& lane = *live.lane;
  HK_ASSERT(!live.leased);
  if (live.started) {
    HK_ASSERT(lane.ordered());
    lane.retrying.emplace(std::pair{live.not_before, live.seq}, &live);
    ++waiting_;
    settle(lane, now);
    return {};
  }
  if (lane.more && live.place > lane.cursor) {
    check_refill(lane);
    return {.kept = false, .evicted = nullptr};
  }

  const auto [at, inserted] = lane.window.emplace(live.place, &live);
  HK_ASSERT(inserted);
  ++waiting_;
  Placed placed;
  if (lane.window.size() > window_size()) {
    HK_SOMETIMES(lane_window_evicted);
    const auto last = std::prev(lane.window.end());
    placed.evicted = last->second;
    lane.window.erase(last);
    --waiting_;
    set_more(lane, true);
    lane.cursor = std::prev(lane.window.end())->first;
    if (placed.evicted == &live) {
      return {.kept = false, .evicted = nullptr};
    }
  }
  // A lane that waits at a gate keeps its place there unless its head is new.
  if (lane.where != Lane::Where::parked || lane.window.begin()->second == &live) {
    settle(lane, now);
  }
  return placed;
}

void Scheduler::place_read(Live& live) {
  Lane& lane = *live.lane;
  if (live.started) {
    lane.retrying.emplace(std::pair{live.not_before, live.seq}, &live);
  } else {
    const auto [at, inserted] = lane.window.emplace(live.place, &live);
    HK_ASSERT(inserted);
  }
  ++waiting_;
}

void Scheduler::remove(Live& live, Moment now) {
  HK_ASSERT(!live.leased);
  Lane& lane = *live.lane;
  const std::size_t erased = live.started ? lane.retrying.erase({live.not_before, live.seq})
                                          : lane.window.erase(live.place);
  HK_ASSERT(erased == 1);
  --waiting_;
  free_slot(live);
  settle(lane, now);
}

void Scheduler::remove_waiting(Live& live) {
  HK_ASSERT(live.started && !live.leased);
  const std::size_t erased = live.lane->retrying.erase({live.not_before, live.seq});
  HK_ASSERT(erased == 1);
  --waiting_;
}

void Scheduler::free_slot(Live& live) {
  if (live.started) {
    HK_ASSERT(live.lane->slots_used > 0);
    --live.lane->slots_used;
    live.started = false;
    live.lane->begun.erase(live.seq);
  }
}

void Scheduler::hold_slot(Live& live) {
  HK_ASSERT(live.lane->ordered());
  live.started = true;
  ++live.lane->slots_used;
  if (live.lane->in_run()) {
    live.lane->begun.emplace(live.seq, &live);
  }
}

void Scheduler::hold_for_callbacks(Live& live) {
  HK_ASSERT(live.lane->ordered() && live.started && !live.leased);
  live.finished = true;
  live.lane->held.insert(live.seq);
}

void Scheduler::finish(Live& live, Moment now) {
  Lane& lane = *live.lane;
  HK_ASSERT(!live.leased);
  lane.held.erase(live.seq);
  free_slot(live);
  settle(lane, now);
}

// ---- where a lane is ----

Live* Scheduler::candidate(Lane& lane, Moment now, Moment& wake_at, ReceiverId receiver) {
  wake_at = never;
  if (lane.in_run()) {
    return candidate_of_run(lane, now, wake_at, receiver);
  }
  if (!lane.retrying.empty()) {
    Live* retry = lane.retrying.begin()->second;
    if (retry->not_before <= now) {
      return retry;
    }
    wake_at = retry->not_before;
  }
  if (lane.window.empty() || (lane.ordered() && lane.slots_used >= lane.slots_max)) {
    return nullptr;
  }
  Live* head = lane.window.begin()->second;
  if (head->not_before <= now) {
    return head;
  }
  wake_at = std::min(wake_at, head->not_before);
  return nullptr;
}

Gate* Scheduler::shut_gate(const Lane& lane, const Live& live, Moment now) const {
  for (Gate* passed : lane.gates) {
    // What a queue has begun goes on while it is paused, but not when it is deleted. One that is
    // pulled from hands nothing out.
    if (passed->kind == Gate::Kind::queue && live.started && !passed->sweeping &&
        lane.pull == nullptr) {
      continue;
    }
    if (!passed->open(now) || !has_share(*passed, *lane.tenant)) {
      return passed;
    }
  }
  for (Gate* passed : live.own_gates()) {
    if (passed != nullptr && (!passed->open(now) || !has_share(*passed, *lane.tenant))) {
      return passed;
    }
  }
  return nullptr;
}

void Scheduler::set_lane_timer(Lane& lane, Moment at) {
  HK_ASSERT(!lane.timer);
  lane.timer = at;
  timers_.insert(Timer{at, false, lane.serial});
}

void Scheduler::leave(Lane& lane) {
  HK_ASSERT(lane.where != Lane::Where::runnable || lane.pull != nullptr);
  if (lane.where == Lane::Where::runnable) {
    const std::size_t erased = lane.pull->ready.erase(lane.turn);
    HK_ASSERT(erased == 1);
  }
  if (lane.timer) {
    timers_.erase(Timer{*lane.timer, false, lane.serial});
    lane.timer.reset();
  }
  if (lane.where == Lane::Where::parked) {
    lane.parked_at->parked.erase(lane.parked_pos);
    lane.parked_at = nullptr;
  }
  lane.where = Lane::Where::idle;
}

void Scheduler::settle(Lane& lane, Moment now) {
  Moment wake_at = never;
  if (lane.where == Lane::Where::runnable) {
    // It is looked at when its turn comes; with nobody who pulls that may be never.
    if (lane.pull == nullptr || candidate(lane, now, wake_at) != nullptr) {
      return;
    }
  }
  leave(lane);
  check_refill(lane);
  if (candidate(lane, now, wake_at) != nullptr) {
    make_runnable(lane);
  } else if (wake_at != never) {
    lane.where = Lane::Where::timed;
    set_lane_timer(lane, wake_at);
  } else {
    forget_if_empty(lane);
  }
}

void Scheduler::make_runnable(Lane& lane) {
  HK_ASSERT(lane.where == Lane::Where::idle);
  lane.where = Lane::Where::runnable;
  if (lane.pull != nullptr) {
    lane.turn = next_turn(lane);
    lane.pull->ready.emplace(lane.turn, &lane);
    feed(*lane.pull);
    return;
  }
  TenantLanes& owner = *lane.tenant;
  owner.runnable.push_back(&lane);
  if (!owner.in_round && owner.places < limits_.tenant_parallelism) {
    enter_round(owner);
  }
}

void Scheduler::park(Lane& lane, Gate& at, Moment now) {
  HK_ASSERT(lane.where == Lane::Where::idle);
  switch (at.kind) {
    case Gate::Kind::destination: HK_SOMETIMES(lane_parked_at_destination_gate); break;
    case Gate::Kind::flow: HK_SOMETIMES(lane_parked_at_flow_gate); break;
    case Gate::Kind::queue: HK_SOMETIMES(lane_parked_at_queue_gate); break;
    case Gate::Kind::push: HK_SOMETIMES(pusher_at_its_parallelism); break;
  }
  if (lane.ordered() && at.kind == Gate::Kind::destination) {
    HK_SOMETIMES(queue_parked_at_destination_gate);
  }
  lane.where = Lane::Where::parked;
  lane.parked_at = &at;
  lane.parked_pos = at.parked.insert(at.parked.end(), &lane);
  // A retry that comes due passes other gates than the head that is stuck here.
  if (!lane.retrying.empty() && lane.retrying.begin()->first.first > now) {
    set_lane_timer(lane, lane.retrying.begin()->first.first);
  }
  set_gate_timer(at, now);
  if (at.open(now)) {
    crowd(at);  // it is shut by its share only
  }
}

void Scheduler::set_gate_timer(Gate& shut, Moment now) {
  if (shut.time_free(now) || shut.parked.empty()) {
    return;
  }
  const Moment opens_at = shut.time_free_at(now);
  if (shut.timer == opens_at) {
    return;
  }
  if (shut.timer) {
    timers_.erase(Timer{*shut.timer, true, shut.serial});
  }
  shut.timer = opens_at;
  timers_.insert(Timer{opens_at, true, shut.serial});
}

bool Scheduler::wake_one(Gate& opened, Moment now) {
  uncrowd(opened);
  if (opened.parked.empty()) {
    return false;
  }
  if (!opened.open(now)) {
    set_gate_timer(opened, now);
    return false;
  }
  if (!has_share(opened, tenant(opened.tenant))) {
    crowd(opened);
    return false;
  }
  Lane& lane = next_parked(opened);
  leave(lane);
  lane.turn_of = &opened;
  ++opened.users;  // the message that waited for it may be cancelled before the turn comes
  make_runnable(lane);
  return true;
}

/// The first that came, but three in the foreground for each in the background. REQUIRES: one
/// waits.
Lane& Scheduler::next_parked(Gate& gate) {
  constexpr std::uint32_t turns_in_a_row = 3;
  constexpr std::size_t looks_max = 16;
  auto next = gate.parked.begin();
  if ((*next)->background && gate.turns < turns_in_a_row) {
    const auto end = std::next(
        gate.parked.begin(), static_cast<std::ptrdiff_t>(std::min(gate.parked.size(), looks_max)));
    const auto other = std::find_if(next, end, [](const Lane* lane) { return !lane->background; });
    if (other != end) {
      HK_SOMETIMES(background_lane_waits);
      next = other;
    }
  }
  gate.turns = (*next)->background ? 0 : gate.turns + 1;
  return **next;
}

void Scheduler::pass_turn(Lane& lane, Moment now) {
  Gate* opened = std::exchange(lane.turn_of, nullptr);
  if (opened == nullptr) {
    return;
  }
  if (!opened->parked.empty()) {
    HK_SOMETIMES(turn_handed_on);
    wake_one(*opened, now);
  }
  --opened->users;
  drop_gate_if_unused(*opened);
  wake_crowded(*lane.tenant, now);
}

void Scheduler::set_slots(const LaneKey& key, std::uint32_t slots, Moment now) {
  HK_ASSERT(slots > 0);
  if (Lane* lane = find_lane(key)) {
    lane->slots_max = slots;
    settle(*lane, now);
  }
}

// ---- starting and ending attempts ----

Live* Scheduler::start_next(Moment now) {
  while (places_ < places_max_ && (!round_.empty() || admit_crowded())) {
    TenantLanes& owner = *round_.front();
    const bool full = owner.places >= limits_.tenant_parallelism;
    if (full || owner.runnable.empty() || !has_share(owner)) {
      round_.pop_front();
      owner.in_round = false;
      owner.deficit = 0;
      if (full) {
        HK_SOMETIMES(tenant_at_its_parallelism);
      } else if (!owner.runnable.empty()) {
        crowd(owner);
      }
      continue;
    }
    if (owner.deficit == 0) {
      owner.deficit = limits_.quantum;
    }

    Lane& lane = *owner.runnable.front();
    owner.runnable.pop_front();
    lane.where = Lane::Where::idle;
    if (lane.pushes != nullptr) {
      if (Live* const pushed = push_next(lane, now)) {
        spend_turn(owner);
        return pushed;
      }
      continue;
    }
    Moment wake_at = never;
    Live* live = candidate(lane, now, wake_at);
    if (live == nullptr) {
      pass_turn(lane, now);
      settle(lane, now);
      continue;
    }
    if (Gate* shut = shut_gate(lane, *live, now)) {
      park(lane, *shut, now);
      pass_turn(lane, now);
      continue;
    }

    take(lane, *live, now);
    pass_turn(lane, now);
    settle(lane, now);
    spend_turn(owner);
    return live;
  }
  return nullptr;
}

/// REQUIRES: it is the first of the round.
void Scheduler::spend_turn(TenantLanes& owner) {
  if (--owner.deficit == 0) {
    round_.pop_front();
    round_.push_back(&owner);
  }
}

void Scheduler::take(Lane& lane, Live& live, Moment now) {
  const std::size_t erased = live.started ? lane.retrying.erase({live.not_before, live.seq})
                                          : lane.window.erase(live.place);
  HK_ASSERT(erased == 1);
  --waiting_;
  if (lane.ordered() && !live.started) {
    HK_ASSERT(lane.slots_used < lane.slots_max);
    hold_slot(live);
  }
  lease(live, now);
}

void Scheduler::lease(Live& live, Moment now) {
  HK_ASSERT(!live.leased);
  Lane& lane = *live.lane;
  for (Gate* passed : lane.gates) {
    pass(*passed, now);
  }
  for (Gate* passed : live.own_gates()) {
    if (passed != nullptr) {
      pass(*passed, now);
    }
  }
  live.leased = true;
  ++lane.in_flight;
  if (lane.pull != nullptr) {
    ++lane.pull->in_flight;
    count_out(lane, true);
    return;
  }
  ++lane.tenant->places;
  ++places_;
  ++in_flight_;
}

void Scheduler::release(Live& live, Moment now) {
  HK_ASSERT(live.leased);
  Lane& lane = *live.lane;
  HK_ASSERT(lane.in_flight > 0);
  live.leased = false;
  --lane.in_flight;
  if (lane.pull != nullptr) {
    HK_ASSERT(lane.pull->in_flight > 0);
    --lane.pull->in_flight;
    count_out(lane, false);
  }
  if (lane.pull == nullptr || live.push != nullptr) {
    give_up_places(live);
  }
  for (Gate* passed : lane.gates) {
    give_back(*passed, live, now);
  }
  give_back_own(live, now);
  go_on(*lane.tenant, now);
}

void Scheduler::give_up_places(const Live& live) {
  TenantLanes& owner = *live.lane->tenant;
  HK_ASSERT(owner.places >= live.places && places_ >= live.places && in_flight_ > 0);
  owner.places -= live.places;
  places_ -= live.places;
  --in_flight_;
}

void Scheduler::give_back_own(Live& live, Moment now) {
  for (Gate* passed : live.own_gates()) {
    if (passed != nullptr) {
      give_back(*passed, live, now);
    }
  }
  live.places = 1;
  if (live.push != nullptr) {
    unuse_own_gates(live);
  }
}

/// The tenant holds fewer places now.
void Scheduler::go_on(TenantLanes& owner, Moment now) {
  wake_crowded(owner, now);
  if (!owner.in_round) {
    uncrowd(owner);  // as it holds fewer now
    if (!owner.runnable.empty()) {
      enter_round(owner);
    }
  }
  admit_crowded();
}

// ---- time and the index ----

void Scheduler::advance(Moment now) {
  while (!timers_.empty() && timers_.begin()->at <= now) {
    const Timer timer = *timers_.begin();
    if (timer.is_gate) {
      timers_.erase(timers_.begin());
      Gate& opened = *gates_by_serial_.at(timer.serial);
      opened.timer.reset();
      wake_one(opened, now);
    } else {
      settle(*lanes_by_serial_.at(timer.serial), now);  // takes its own timer away
    }
  }
}

std::optional<Moment> Scheduler::next_timer() const {
  return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->at);
}

void Scheduler::check_refill(Lane& lane) {
  if (lane.more && lane.window.size() <= window_size() / 4) {
    want_refill(lane);
  }
}

void Scheduler::want_refill(Lane& lane) {
  if (!lane.refill_wanted) {
    lane.refill_wanted = true;
    refills_.push_back(&lane);
  }
}

void Scheduler::set_more(Lane& lane, bool more) {
  if (lane.ordered() && lane.more != more) {
    std::size_t& deep = lane.tenant->deep_queues;
    deep = more ? deep + 1 : deep - 1;
  }
  lane.more = more;
}

std::vector<Lane*> Scheduler::take_refills(std::size_t limit) {
  std::vector<Lane*> taken;
  while (!refills_.empty() && taken.size() < limit) {
    taken.push_back(refills_.front());
    refills_.pop_front();
  }
  return taken;
}

void Scheduler::refilled(Lane& lane, bool more, LanePlace cursor, Moment now) {
  lane.refill_wanted = false;
  set_more(lane, more);
  lane.cursor = cursor;
  // A parked lane keeps its place in the line unless it waits for nothing that it has.
  if (lane.where != Lane::Where::parked) {
    settle(lane, now);
  }
}

}  // namespace hk::core
