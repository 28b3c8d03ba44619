// Receivers ask, and get what is there: at once, or as soon as there is something. What is handed
// out is leased, and written so before the answer leaves: a message that kills its receivers is
// counted, and a restart hides it as long as its lease lasts.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/pull/no_queue.h"

HK_SOMETIMES_DECLARE(received)
HK_SOMETIMES_DECLARE(received_nothing)
HK_SOMETIMES_DECLARE(received_again)
HK_SOMETIMES_DECLARE(received_without_hiding)
HK_SOMETIMES_DECLARE(receiver_went_away)
HK_SOMETIMES_DECLARE(pulled_message_expired)
HK_SOMETIMES_DECLARE(hand_out_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(receive_ended_by_a_drain)

namespace hk::core {
Reply Machine::decide(const Receive& command) {
  const Queue* const queue = find_pull_queue(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  if (starting_ && hand_out_again(*queue, command)) {
    return Done{};
  }
  const Moment until = batch_.now() + command.wait.value_or(queue->pull->wait);
  waiters_[{command.tenant, command.queue}].push_back(
      {command.receiver, command.max, command.visibility, until, command.attempt_id});
  waits_.emplace(until, command.tenant, command.queue, command.receiver);
  scheduler_.feed(scheduler_.pull_queue(command.tenant, command.queue));
  return Done{};
}

Reply Machine::decide(const StopReceiving& command) {
  const auto queue = waiters_.find({command.tenant, command.queue});
  if (queue == waiters_.end()) {
    return Done{};
  }
  const auto waiter = std::ranges::find(queue->second, command.receiver, &Waiter::receiver);
  if (waiter != queue->second.end()) {
    HK_SOMETIMES(receiver_went_away);
    waits_.erase({waiter->until, command.tenant, command.queue, command.receiver});
    queue->second.erase(waiter);
    if (queue->second.empty()) {
      waiters_.erase(queue);
    }
  }
  return Done{};
}

/// First come, first served; what one does not take the next one may.
void Machine::hand_out() {
  MoveRoom room = room_for_moves();
  while (PullQueue* const pull = scheduler_.next_fed()) {
    if (!starting_) {
      continue;  // a drain: who would settle it may find us gone
    }
    if (room.is_used_up()) {
      HK_SOMETIMES(hand_out_goes_on_in_the_next_batch);
      scheduler_.feed(*pull);
      break;
    }
    const std::pair key{pull->tenant, pull->name};
    const auto waiting = waiters_.find(key);
    const Queue* const queue = find_pull_queue(pull->tenant, pull->name);
    if (waiting == waiters_.end() || queue == nullptr) {
      continue;
    }
    std::list<Waiter>& line = waiting->second;
    while (!line.empty() && hand_out_to(*queue, *pull, line.front(), room)) {
      waits_.erase({line.front().until, pull->tenant, pull->name, line.front().receiver});
      line.pop_front();
    }
    if (line.empty()) {
      waiters_.erase(waiting);
    } else if (room.is_used_up()) {
      scheduler_.feed(*pull);
    }
  }
  answer_late();
}

/// False: there is nothing, or there was no room to look further.
bool Machine::hand_out_to(const Queue& queue, PullQueue& pull, const Waiter& waiter,
                          MoveRoom& room) {
  HandOut out{.receiver = waiter.receiver};
  const Millis visibility = waiter.visibility.value_or(queue.pull->visibility);
  std::vector<Live*> taken;
  while (out.messages.size() < waiter.max && !room.is_used_up()) {
    Live* const live = scheduler_.pull_next(pull, waiter.receiver, batch_.now());
    if (live == nullptr) {
      break;
    }
    auto message = batch_.message(live->seq);
    HK_ASSERT(message != nullptr && message->pull);
    if (must_not_be_handed_out(queue, *live, *message)) {
      room.take(*message);
      continue;
    }
    lease_to(*live, waiter, visibility);
    room.hand_out(*message);
    live->nonce = message->id.nonce;
    out.messages.push_back(handed_out(*live, std::move(message)));
    taken.push_back(live);
  }
  if (taken.empty()) {
    return false;
  }
  HK_SOMETIMES(received);
  if (visibility <= Millis{0}) {
    HK_SOMETIMES(received_without_hiding);
    for (Live* const live : taken) {
      become_visible(*live);
    }
  } else if (queue.pull->fifo && !waiter.attempt_id.empty()) {
    note_attempt(queue, waiter.attempt_id, taken);
  }
  batch_.effect(std::move(out));
  return true;
}

HandOut::One Machine::handed_out(const Live& live, std::shared_ptr<const Message> message) {
  const Moment before = message->pull->first_received_at;
  return {std::move(message), live.attempts, before != Moment{} ? before : live.first_received_at,
          live.lease_until};
}

/// Those whose wait is over: in a drain everybody's is.
void Machine::answer_late() {
  while (!waits_.empty() && (!starting_ || std::get<Moment>(*waits_.begin()) <= batch_.now())) {
    if (starting_) {
      HK_SOMETIMES(received_nothing);
    } else {
      HK_SOMETIMES(receive_ended_by_a_drain);
    }
    const auto [until, tenant, queue, receiver] = *waits_.begin();
    decide(StopReceiving{tenant, queue, receiver});
    batch_.effect(HandOut{.receiver = receiver});
  }
}

/// Its queue is gone.
void Machine::end_waiters(const Queue& queue) {
  const auto found = waiters_.find({queue.tenant, queue.name});
  if (found == waiters_.end()) {
    return;
  }
  for (const Waiter& waiter : found->second) {
    waits_.erase({waiter.until, queue.tenant, queue.name, waiter.receiver});
    batch_.effect(HandOut{.receiver = waiter.receiver, .queue_gone = true});
  }
  waiters_.erase(found);
}

/// True: it was too old, or has been received too often, and is gone from this queue or has stopped
/// its group.
bool Machine::must_not_be_handed_out(const Queue& queue, Live& live, const Message& message) {
  if (kept_until(queue, message) <= batch_.now()) {
    HK_SOMETIMES(pulled_message_expired);
    finish_pulled(live, Status::canceled);
    return true;
  }
  if (!failed_for_good(queue, live)) {
    return false;
  }
  if (stops_its_group(live)) {
    become_visible(live);
    return true;
  }
  const Queue* const target = find_pull_queue(queue.tenant, queue.pull->dead_letters_to);
  if (target == nullptr) {
    return false;  // better received once more than lost
  }
  move_to(*target, live, queue);
  return true;
}

void Machine::lease_to(Live& live, const Waiter& waiter, Millis visibility) {
  HK_ASSERT(live.leased);
  if (live.attempts > 0) {
    HK_SOMETIMES(received_again);
  }
  ++live.attempts;
  ++counters(live.lane->key.tenant).attempts;
  live.receiver = waiter.receiver;
  live.fence = {meta_.epoch, live.attempts};
  live.started_at = batch_.now();
  if (live.first_received_at == Moment{}) {
    live.first_received_at = batch_.now();
  }
  hide_until(live, batch_.now() + visibility);
  batch_.event(live.lane->key.tenant, live.seq, EventKind::active, live.attempts);
}

/// How long its lease lasts, from now on and in the store. REQUIRES: leased.
void Machine::hide_until(Live& live, Moment until) {
  leases_.erase({live.lease_until, live.seq});
  live.lease_until = until;
  live.not_before = until;
  leases_.insert({until, live.seq});
  live.indexed = false;  // written over: it keeps its place
  index(live);
}

/// The lease is over. REQUIRES: leased.
void Machine::become_visible(Live& live) {
  leases_.erase({live.lease_until, live.seq});
  scheduler_.release(live, batch_.now());
  live.not_before = live.place.due;  // visible, and at its old place among those that are
  halt_if_failed(live);
  wait_in_lane(live);
}

/// Gone from its queue, whatever it did. REQUIRES: leased.
void Machine::finish_pulled(Live& live, Status status, MessageState state) {
  leases_.erase({live.lease_until, live.seq});
  scheduler_.release(live, batch_.now());
  state.attempts = live.attempts;
  state.due = live.not_before;
  if (live.attempts > 0) {
    // Its own fence may be of before a restart, or of a receive that was given back.
    state.last = Attempt{.fence = {meta_.epoch, live.attempts},
                         .started_at = live.started_at,
                         .ended_at = batch_.now()};
  }
  if (status == Status::succeeded) {
    batch_.event(live.lane->key.tenant, live.seq, EventKind::delivered, live.attempts);
  }
  finish(live, std::move(state), status);
}

}  // namespace hk::core
