// Whose turn it is among the lanes of queues that receivers pull from.
#include <algorithm>

#include "base/assert.h"
#include "core/lane/scheduler.h"

namespace hk::core {

/// The first message of the group that is not done, and only if it can go: nothing overtakes it. A
/// receiver that holds the first ones may have the next ones, too.
Live* Scheduler::candidate_of_run(Lane& lane, Moment now, Moment& wake_at, ReceiverId receiver) {
  const auto visible = [&](Live* live) {
    if (lane.more && live->place > lane.cursor) {
      want_refill(lane);  // what is before it has not been read yet
      return false;
    }
    if (live->not_before <= now) {
      return true;
    }
    wake_at = live->not_before;
    return false;
  };
  for (const auto& [seq, live] : lane.begun) {
    if (live->leased && live->receiver == receiver && receiver != ReceiverId{}) {
      continue;
    }
    return !live->leased && !live->halted && visible(live) ? live : nullptr;
  }
  if (lane.window.empty()) {
    return nullptr;
  }
  Live* head = lane.window.begin()->second;
  return visible(head) ? head : nullptr;
}

void Scheduler::feed(PullQueue& queue) {
  if (!queue.fed) {
    queue.fed = true;
    fed_.push_back(&queue);
  }
  wake_pusher(queue);
}

PullQueue* Scheduler::next_fed() {
  while (!fed_.empty()) {
    PullQueue* const queue = fed_.front();
    fed_.pop_front();
    queue->fed = false;
    if (!drop_if_unused(*queue)) {
      return queue;
    }
  }
  return nullptr;
}

/// Behind all that have as much out: groups that have equally much take turns.
PullTurn Scheduler::next_turn(Lane& lane) {
  return {lane.in_run() ? 0 : lane.in_flight, ++lane.pull->turns};
}

/// REQUIRES: it is ready. Nothing is allocated.
void Scheduler::take_turn(Lane& lane, PullTurn turn) {
  auto place = lane.pull->ready.extract(lane.turn);
  HK_ASSERT(!place.empty());
  lane.turn = turn;
  place.key() = turn;
  lane.pull->ready.insert(std::move(place));
}

/// lane.in_flight is another number. What was given something goes behind its equals.
void Scheduler::count_out(Lane& lane, bool given) {
  if (lane.where == Lane::Where::runnable && !lane.in_run()) {
    take_turn(lane, given ? next_turn(lane) : PullTurn{lane.in_flight, lane.turn.turn});
  }
}

Live* Scheduler::pull_next(PullQueue& queue, ReceiverId receiver, Moment now) {
  while (!queue.ready.empty()) {
    Lane& lane = *queue.ready.begin()->second;
    Moment wake_at = never;
    Live* live = candidate(lane, now, wake_at, receiver);
    if (live == nullptr) {
      leave(lane);
      settle(lane, now);
      continue;
    }
    if (shut_gate(lane, *live, now) != nullptr) {
      return nullptr;  // it is the queue's, and shut for all its lanes: gate_changed() goes on here
    }
    live->receiver = receiver;
    take(lane, *live, now);
    if (!lane.in_run()) {
      settle(lane, now);
    }
    check_refill(lane);
    return live;
  }
  return nullptr;
}

Live* Scheduler::pull_oldest(PullQueue& queue, Seq& after, Seq up_to, std::size_t& looks,
                             Moment now) {
  for (auto at = queue.live.upper_bound(after); at != queue.live.end() && at->first <= up_to;
       ++at) {
    if (looks == 0) {
      return nullptr;
    }
    --looks;
    after = at->first;
    Live& live = *at->second;
    Lane& lane = *live.lane;
    Moment wake_at = never;
    if (live.leased || live.not_before > now || shut_gate(lane, live, now) != nullptr ||
        (lane.in_run() && candidate(lane, now, wake_at) != &live)) {
      continue;
    }
    take(lane, live, now);
    check_refill(lane);  // settle() does not get there while something else of it is ready
    settle(lane, now);
    return &live;
  }
  after = up_to;
  return nullptr;
}

const Live* Scheduler::first_of_run(const Lane& lane) {
  if (!lane.begun.empty()) {
    return lane.begun.begin()->second;
  }
  return lane.window.empty() ? nullptr : lane.window.begin()->second;
}

bool Scheduler::wants_refill(const PullQueue& queue) const {
  return std::ranges::any_of(refills_, [&](const Lane* lane) { return lane->pull == &queue; });
}

}  // namespace hk::core
