// Receivers ask, and get what is there: at once, or as soon as there is something. What is handed
// out is leased, and written so before the answer leaves: a message that kills its receivers is
// counted, and a restart hides it as long as its lease lasts.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/pull/room.h"
#include "core/queue/queues.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(received)
HK_SOMETIMES_DECLARE(received_nothing)
HK_SOMETIMES_DECLARE(received_again)
HK_SOMETIMES_DECLARE(received_without_hiding)
HK_SOMETIMES_DECLARE(receiver_went_away)
HK_SOMETIMES_DECLARE(pulled_message_expired)
HK_SOMETIMES_DECLARE(hand_out_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(receive_ended_by_a_drain)

namespace hk::core {
Reply Pulls::decide(const Receive& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  if (context_.starting) {
    if (auto again = hand_out_again(*queue, command)) {
      return *std::move(again);
    }
  }
  const Moment until = batch_.now() + command.wait.value_or(queue->pull->wait);
  waiters_[{command.tenant, command.queue}].push_back(
      {command.receiver, command.max, command.visibility, until, command.attempt_id});
  waits_.emplace(until, command.tenant, command.queue, command.receiver);
  scheduler_.feed(scheduler_.pull_queue(command.tenant, command.queue));
  return Later{command.receiver};
}

Reply Pulls::decide(const StopReceiving& command) {
  if (stop_receiving(command.tenant, command.queue, command.receiver)) {
    HK_SOMETIMES(receiver_went_away);
  }
  return Done{};
}

/// Answers it with nothing. False: it does not wait.
bool Pulls::stop_receiving(TenantId tenant, const std::string& queue, ReceiverId receiver) {
  const auto waiting = waiters_.find({tenant, queue});
  if (waiting == waiters_.end()) {
    return false;
  }
  std::list<Waiter>& line = waiting->second;
  const auto waiter = std::ranges::find(line, receiver, &Waiter::receiver);
  if (waiter == line.end()) {
    return false;
  }
  waits_.erase({waiter->until, tenant, queue, receiver});
  line.erase(waiter);
  if (line.empty()) {
    waiters_.erase(waiting);
  }
  batch_.answer(receiver, Received{.receiver = receiver});
  return true;
}

void Pulls::hand_out() {
  MoveRoom room(limits_);
  while (PullQueue* const pull = scheduler_.next_fed()) {
    if (!context_.starting) {
      continue;  // a drain: who would settle it may find us gone
    }
    if (room.is_used_up()) {
      HK_SOMETIMES(hand_out_goes_on_in_the_next_batch);
      scheduler_.feed(*pull);
      break;
    }
    const std::pair key{pull->tenant, pull->name};
    const auto waiting = waiters_.find(key);
    const Queue* const queue = queues_.find_pulled(pull->tenant, pull->name);
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
bool Pulls::hand_out_to(const Queue& queue, PullQueue& pull, const Waiter& waiter, MoveRoom& room) {
  Received out{.receiver = waiter.receiver};
  const Millis visibility = waiter.visibility.value_or(queue.pull->visibility);
  std::vector<Live*> taken;
  while (out.messages.size() < waiter.max && !room.is_used_up()) {
    Live* const live = scheduler_.pull_next(pull, waiter.receiver, batch_.now());
    if (live == nullptr) {
      break;
    }
    auto message = batch_.get<Message>(live->seq);
    HK_ASSERT(message != nullptr && message->pull);
    if (must_not_be_handed_out(queue, *live, *message)) {
      room.take(*message);
      continue;
    }
    lease_to(*live, waiter.receiver, visibility);
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
  batch_.answer(waiter.receiver, std::move(out));
  return true;
}

Received::One Pulls::handed_out(const Live& live, std::shared_ptr<const Message> message) {
  const Moment before = message->pull->first_received_at;
  return {std::move(message), live.attempts, before != Moment{} ? before : live.first_received_at,
          live.lease_until};
}

/// Those whose wait is over: in a drain everybody's is.
void Pulls::answer_late() {
  while (!waits_.empty() &&
         (!context_.starting || std::get<Moment>(*waits_.begin()) <= batch_.now())) {
    if (context_.starting) {
      HK_SOMETIMES(received_nothing);
    } else {
      HK_SOMETIMES(receive_ended_by_a_drain);
    }
    const auto [until, tenant, queue, receiver] = *waits_.begin();
    stop_receiving(tenant, queue, receiver);
  }
}

void Pulls::queue_gone(const Queue& queue) {
  use_push(queue);
  const auto found = waiters_.find({queue.tenant, queue.name});
  if (found == waiters_.end()) {
    return;
  }
  for (const Waiter& waiter : found->second) {
    waits_.erase({waiter.until, queue.tenant, queue.name, waiter.receiver});
    batch_.answer(waiter.receiver, no_queue(queue.name));
  }
  waiters_.erase(found);
}

/// True: it was too old, or has been received too often, and is gone from this queue or has stopped
/// its group.
bool Pulls::must_not_be_handed_out(const Queue& queue, Live& live, const Message& message) {
  if (kept_until(queue, message) <= batch_.now()) {
    HK_SOMETIMES(pulled_message_expired);
    finish(live, Status::canceled);
    return true;
  }
  if (!failed_for_good(queue, live)) {
    return false;
  }
  if (stops_its_group(live)) {
    become_visible(live);
    return true;
  }
  const Queue* const target = queues_.find_pulled(queue.tenant, queue.pull->dead_letters_to);
  if (target == nullptr) {
    return false;  // better received once more than lost
  }
  move_to(*target, live, queue);
  return true;
}

void Pulls::lease_to(Live& live, ReceiverId receiver, Millis visibility) {
  HK_ASSERT(live.leased);
  if (live.attempts > 0) {
    HK_SOMETIMES(received_again);
  }
  ++live.attempts;
  ++tenants_.counters(live.lane->key.tenant).attempts;
  live.receiver = receiver;
  live.fence = {context_.progress.epoch(), live.attempts};
  live.started_at = batch_.now();
  if (live.first_received_at == Moment{}) {
    live.first_received_at = batch_.now();
  }
  hide_until(live, batch_.now() + visibility);
  batch_.event(live.lane->key.tenant, live.seq, EventKind::active, live.attempts);
}

/// How long its lease lasts, from now on and in the store. REQUIRES: leased.
void Pulls::hide_until(Live& live, Moment until) {
  lanes_.end_lease(live);
  lanes_.lease(live, until);
  live.not_before = until;
  lanes_.index_again(live);
}

void Pulls::become_visible(Live& live) {
  lanes_.end_lease(live);
  scheduler_.release(live, batch_.now());
  live.not_before = live.place.due;  // visible, and at its old place among those that are
  halt_if_failed(live);
  lanes_.wait(live);
}

void Pulls::finish(Live& live, Status status, MessageState state, Attempt last) {
  lanes_.end_lease(live);
  scheduler_.release(live, batch_.now());
  state.attempts = live.attempts;
  state.due = live.not_before;
  if (live.attempts > 0) {
    // Its own fence may be of before a restart, or of a receive that was given back.
    last.fence = {context_.progress.epoch(), live.attempts};
    last.started_at = live.started_at;
    last.ended_at = batch_.now();
    state.last = std::move(last);
  }
  if (status == Status::succeeded) {
    batch_.event(live.lane->key.tenant, live.seq, EventKind::delivered, live.attempts);
  }
  messages_.finish(live, std::move(state), status);
}

}  // namespace hk::core
