#include "core/lane/lanes.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/callback.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"
#include "core/task/tasks.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(accepted_beyond_the_window)
HK_SOMETIMES_DECLARE(lane_refilled)
HK_SOMETIMES_DECLARE(young_message_indexed)
HK_SOMETIMES_DECLARE(cancel_finished_after_restart)
HK_SOMETIMES_DECLARE(recovered_wait_for_callbacks)
HK_SOMETIMES_DECLARE(recovered_lease_of_receiver)

namespace hk::core {

Live* Lanes::find(Seq seq) {
  const auto found = live_.find(seq);
  return found == live_.end() ? nullptr : found->second.get();
}

bool Lanes::leased(Seq seq) const {
  const auto found = live_.find(seq);
  return found != live_.end() && found->second->leased;
}

Moment Lanes::wake_at() const {
  if (scheduler_.wants_refill()) {
    return context_.progress.time();
  }
  Moment at = scheduler_.next_timer().value_or(never);
  if (!leases_.empty()) {
    at = std::min(at, leases_.begin()->first);
  }
  if (!young_.empty()) {
    at = std::min(at, young_.front().accepted_at + limits_.index_after);
  }
  return at;
}

// ---- in memory ----

Live& Lanes::add(const Message& message) {
  Lane* const known = scheduler_.find_lane(lane_name(message));
  Lane& lane = known != nullptr ? *known : lane_for(lane_of(message));
  auto owned = std::make_unique<Live>();
  Live& live = *owned;
  live.seq = message.id.seq;
  live.lane = &lane;
  live.not_before = message.not_before;
  live.place = {lane.key.ordered() ? Moment{} : live.not_before, live.seq};
  live.callbacks = callbacks_of(message);
  keep(std::move(owned));
  if (lane.ordered()) {
    scheduler_.use_own_gates(live, message.host, message.flow_key);
  }

  for (Gate* passed : lane.gates) {
    passed->last_use = batch_.now();
  }
  if (live.flow != nullptr) {
    live.flow->last_use = batch_.now();
  }
  young_.push_back({live.seq, batch_.now()});
  return live;
}

/// REQUIRES: its lane is set.
Live& Lanes::keep(std::unique_ptr<Live> live) {
  Live& kept = *live;
  kept.pull = kept.lane->pull;
  if (kept.pull != nullptr) {
    kept.pull->live.emplace_hint(kept.pull->live.end(), kept.seq, &kept);
  }
  live_.emplace(kept.seq, std::move(live));
  return kept;
}

void Lanes::wait(Live& live) {
  const auto placed = scheduler_.place(live, batch_.now());
  if (placed.evicted != nullptr) {
    index(*placed.evicted);
    forget(*placed.evicted);
  }
  if (!placed.kept) {
    HK_SOMETIMES(accepted_beyond_the_window);
    index(live);
    forget(live);
  }
}

void Lanes::forget(Live& live) {
  HK_ASSERT(!live.leased);
  scheduler_.unuse_own_gates(live);
  if (live.pull != nullptr) {
    scheduler_.leave_pull_queue(live);
  }
  live_.erase(live.seq);
}

Lane& Lanes::lane_for(const LaneKey& key) {
  if (Lane* known = scheduler_.find_lane(key)) {
    return *known;
  }
  Lane& lane = scheduler_.lane(key);
  if (webhook::is_ours(key)) {
    webhooks_.lane_made(lane);  // one in order has one slot
    return lane;
  }
  if (key.queue.empty()) {
    return lane;
  }
  // Its queue may be of the other kind by now: deleted, and made again.
  if (key.is_pulled()) {
    // As many as are asked for: what holds a group back is what of it is out.
    lane.slots_max = std::numeric_limits<std::uint32_t>::max();
    scheduler_.serve_pulled(lane);
    return lane;
  }
  // A group keeps its order by having one slot, whatever the queue's parallelism.
  const Queue* const queue = key.group.empty() ? queues_.find(key.tenant, key.queue) : nullptr;
  lane.slots_max = queue != nullptr ? queue->parallelism : 1;
  return lane;
}

// ---- in the index ----

void Lanes::index(Live& live) {
  if (live.indexed) {
    return;
  }
  live.indexed = true;
  // Where one of a queue is pushed to is the queue's to say.
  const bool has_own_host = live.destination != nullptr && live.push == nullptr;
  batch_.put(Put<LaneRow>{live.lane->key,
                          {.place = live.place,
                           .not_before = live.not_before,
                           .attempts = live.attempts,
                           .flow_key = live.flow != nullptr ? live.flow->name : std::string{},
                           .host = has_own_host ? live.destination->name : std::string{},
                           .started = live.started,
                           .cancel_requested = live.cancel_requested,
                           .finished = live.finished,
                           .first_received_at = live.first_received_at,
                           .forgiven = live.forgiven}});
}

void Lanes::index_again(Live& live) {
  live.indexed = false;
  index(live);
}

void Lanes::unindex(Live& live) {
  if (live.indexed) {
    live.indexed = false;
    batch_.put(Erase<LaneRow>{live.lane->key, live.place});
  }
}

void Lanes::index_soon(Seq up_to) { index_wanted_ = std::max(index_wanted_, up_to); }

void Lanes::advance() {
  const Moment old_enough = batch_.now() - limits_.index_after;
  for (std::size_t looked_at = 0; looked_at < limits_.index_per_batch && !young_.empty();
       ++looked_at) {
    const Young& oldest = young_.front();
    if (oldest.accepted_at > old_enough && oldest.seq > index_wanted_) {
      return;
    }
    if (Live* live = find(oldest.seq); live != nullptr && !live->indexed) {
      HK_SOMETIMES(young_message_indexed);
      index(*live);
    }
    HK_ASSERT(oldest.seq > context_.progress.indexed_up_to());
    context_.progress.indexed(oldest.seq);
    young_.pop_front();
  }
}

std::optional<LaneEntry> Lanes::find_entry(const Message& message) {
  const LaneKey key = lane_of(message);
  const LanePlace place{key.ordered() ? Moment{} : message.not_before, message.id.seq};
  const LanePlace before{place.due, Seq{place.seq.value() - 1}};
  auto entries = batch_.reader().lane_entries(key, before, 1);
  if (entries.empty() || entries.front().place != place) {
    return std::nullopt;
  }
  return std::move(entries.front());
}

// ---- leases ----

void Lanes::lease(Live& live, Moment until) {
  live.lease_until = until;
  leases_.insert({until, live.seq});
}

bool Lanes::end_lease(const Live& live) { return leases_.erase({live.lease_until, live.seq}) > 0; }

Live* Lanes::lease_over() {
  if (leases_.empty() || leases_.begin()->first > batch_.now()) {
    return nullptr;
  }
  Live* const live = find(leases_.begin()->second);
  HK_ASSERT(live != nullptr && live->leased);
  return live;
}

// ---- from the index into windows ----

void Lanes::refill() {
  for (Lane* lane : scheduler_.take_refills(limits_.refills_per_batch)) {
    HK_SOMETIMES(lane_refilled);
    read(*lane);
  }
}

void Lanes::read(Lane& lane) {
  const std::size_t limit = scheduler_.window_size();
  const auto entries = batch_.reader().lane_entries(lane.key, lane.cursor, limit);
  fill(lane, entries, entries.size() == limit);
}

/// With what follows its cursor in the index. `more`: there may be more than these.
void Lanes::fill(Lane& lane, const std::vector<LaneEntry>& entries, bool more) {
  LanePlace cursor = lane.cursor;
  std::vector<Live*> to_cancel;
  for (const LaneEntry& entry : entries) {
    cursor = entry.place;
    if (find(entry.place.seq) != nullptr) {
      continue;  // leased, or read before an eviction moved the cursor back
    }
    if (entry.finished && !messages_.awaits_callbacks(entry.place.seq)) {
      continue;
    }
    Live* live = remember(lane, entry);
    if (entry.cancel_requested && !entry.finished) {
      to_cancel.push_back(live);
    }
  }
  scheduler_.refilled(lane, more, cursor, batch_.now());

  // Cancelled while an attempt ran that a crash cut short: nobody will report, so it ends here.
  for (Live* live : to_cancel) {
    HK_SOMETIMES(cancel_finished_after_restart);
    auto state = batch_.get<MessageState>(live->seq);
    HK_ASSERT(state.has_value() && state->cancel_requested);
    messages_.cancel_waiting(*live, std::move(*state));
  }
}

Live* Lanes::read(const Message& message, const LaneEntry& entry) {
  return remember(lane_for(lane_of(message)), entry);
}

Live* Lanes::remember(Lane& lane, const LaneEntry& entry) {
  auto owned = std::make_unique<Live>();
  Live& live = *owned;
  live.seq = entry.place.seq;
  live.lane = &lane;
  live.place = entry.place;
  live.not_before = entry.not_before;
  live.attempts = entry.attempts;
  live.cancel_requested = entry.cancel_requested;
  live.indexed = true;
  keep(std::move(owned));
  if (lane.ordered()) {
    scheduler_.use_own_gates(live, entry.host, entry.flow_key);
  }
  if (entry.started) {
    scheduler_.hold_slot(live);
  }
  if (entry.finished) {
    HK_SOMETIMES(recovered_wait_for_callbacks);
    scheduler_.hold_for_callbacks(live);
    return &live;
  }
  if (lane.pull != nullptr) {
    live.first_received_at = entry.first_received_at;
    live.started_at = batch_.now();  // when it was received is not stored: no earlier than now
    live.forgiven = entry.forgiven;
    if (entry.started && entry.not_before > batch_.now()) {
      HK_SOMETIMES(recovered_lease_of_receiver);
      live.fence = {context_.progress.epoch(), live.attempts};
      lease(live, entry.not_before);
      scheduler_.lease(live, batch_.now());
      return &live;
    }
    if (entry.started) {
      live.not_before = live.place.due;
    }
  }
  pulls_.halt_if_failed(live);
  tasks_.look_again(lane.key, live.seq);
  scheduler_.place_read(live);
  return &live;
}

}  // namespace hk::core
