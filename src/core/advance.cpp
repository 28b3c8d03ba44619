// What happens by itself: time passes, leases run out, lanes read on, old things go.
#include <algorithm>

#include "base/assert.h"
#include "base/clock_lean.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/message/callback.h"

HK_SOMETIMES_DECLARE(lease_ran_out)
HK_SOMETIMES_DECLARE(lane_refilled)
HK_SOMETIMES_DECLARE(young_message_indexed)
HK_SOMETIMES_DECLARE(message_purged)
HK_SOMETIMES_DECLARE(dead_letter_purged)
HK_SOMETIMES_DECLARE(dedup_purged)
HK_SOMETIMES_DECLARE(cancel_finished_after_restart)
HK_SOMETIMES_DECLARE(recovered_wait_for_callbacks)
HK_SOMETIMES_DECLARE(recovered_lease_of_receiver)

namespace hk::core {
namespace {

/// What a batch may name of what expires, so that commands do not wait for long behind a purge; a
/// record is not cut in two.
constexpr std::size_t purges_per_batch = 512;
/// Each may call back, with its body: after a long sleep of the machine all of them are due at
/// once.
constexpr std::size_t expired_places_per_batch = 1024;

/// What the attempt holds in memory, in places.
std::uint32_t places_of(const Message& message, const Limits& limits) {
  constexpr std::size_t most = 1U << 16U;  // sums must not overflow, whatever a body's limit is
  return static_cast<std::uint32_t>(1 +
                                    std::min(message.body.size() / limits.bytes_per_place, most));
}

}  // namespace

void Machine::advance() {
  expire_leases();
  sweep_queues();
  retime_queues();
  scheduler_.advance(batch_.now());
  purge_expired();
  purge_events();
  forget_idle_flow_keys();
  run_schedules();
  start_attempts();
  forget_delayed();
  run_moves();
  hand_out();
  index_young();
}

/// A lease that ran out is a failed attempt: whoever held it is taken for dead.
void Machine::expire_leases() {
  std::size_t places = 0;
  while (places < expired_places_per_batch && !leases_.empty() &&
         leases_.begin()->first <= batch_.now()) {
    HK_SOMETIMES(lease_ran_out);
    Live* live = find_live(leases_.begin()->second);
    HK_ASSERT(live != nullptr && live->leased);
    places += live->places;
    if (live->lane->pull != nullptr) {
      become_visible(*live);
      continue;
    }
    Attempt attempt{.fence = live->fence,
                    .started_at = live->started_at,
                    .ended_at = batch_.now(),
                    .error = "no outcome was reported within the lease"};
    end_attempt(*live, std::move(attempt), false, false, std::nullopt);
  }
}

void Machine::start_attempts() {
  const Moment now = batch_.now();
  for (std::size_t started = 0; starting_ && started < limits_.starts_per_batch; ++started) {
    Live* live = scheduler_.start_next(now);
    if (live == nullptr) {
      return;
    }
    const auto message = batch_.message(live->seq);
    HK_ASSERT(message != nullptr);
    HK_ASSERT(live->not_before <= now);
    live->fence = Fence{meta_.epoch, live->attempts + 1};
    live->started_at = now;
    live->lease_until = now + outlasting(message->timeout) + limits_.lease_grace;
    leases_.insert({live->lease_until, live->seq});
    live->callbacks = callbacks_of(*message);
    scheduler_.take_places(*live, places_of(*message, limits_));
    // The window of a rate must be durable before the start it counts: a restart must not grant it
    // again.
    if (!message->flow_key.empty()) {
      const auto flow = flow_keys_.find({message->tenant, message->flow_key});
      if (flow != flow_keys_.end() && flow->second.rate != 0) {
        dirty_flow_keys_.insert(flow->first);
      }
    }
    batch_.event(message->tenant, live->seq, EventKind::active, live->fence.attempt);

    StartAttempt start{.id = message->id,
                       .tenant = message->tenant,
                       .fence = live->fence,
                       .retried = live->attempts,
                       .started_at = now,
                       .lease_until = live->lease_until,
                       .message = message};
    const std::uint64_t span = rng_.next() | 1U;  // a span id must not be all zero
    for (std::size_t i = 0; i < start.span_id.size(); ++i) {
      start.span_id[i] = static_cast<std::uint8_t>(span >> (8 * i));
    }
    batch_.effect(std::move(start));
  }
}

/// Messages that are still unfinished some time after their acceptance get their index entry. Most
/// never need one: they are delivered before.
void Machine::index_young() {
  const Moment old_enough = batch_.now() - limits_.index_after;
  for (std::size_t looked_at = 0; looked_at < limits_.index_per_batch && !young_.empty();
       ++looked_at) {
    const Young& oldest = young_.front();
    if (oldest.accepted_at > old_enough && oldest.seq > index_wanted_) {
      return;
    }
    if (Live* live = find_live(oldest.seq); live != nullptr && !live->indexed) {
      HK_SOMETIMES(young_message_indexed);
      index(*live);
    }
    HK_ASSERT(oldest.seq > meta_.indexed_up_to);
    meta_.indexed_up_to = oldest.seq;
    young_.pop_front();
  }
}

void Machine::refill_lanes() {
  for (Lane* lane : scheduler_.take_refills(limits_.refills_per_batch)) {
    HK_SOMETIMES(lane_refilled);
    read_lane(*lane);
  }
}

/// REQUIRES: nothing was decided in this batch yet: the index must be as the window believes it to
/// be.
void Machine::read_lane(Lane& lane) {
  const std::size_t limit = scheduler_.window_size();
  const auto entries = batch_.reader().lane_entries(lane.key, lane.cursor, limit);
  fill_lane(lane, entries, entries.size() == limit);
}

/// With what follows its cursor in the index. `more`: there may be more than these.
void Machine::fill_lane(Lane& lane, const std::vector<LaneEntry>& entries, bool more) {
  LanePlace cursor = lane.cursor;
  std::vector<Live*> to_cancel;
  for (const LaneEntry& entry : entries) {
    cursor = entry.place;
    if (find_live(entry.place.seq) != nullptr) {
      continue;  // leased, or read before an eviction moved the cursor back
    }
    if (entry.finished && !awaits_callbacks(entry.place.seq)) {
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
    auto state = batch_.state(live->seq);
    HK_ASSERT(state.has_value() && state->cancel_requested);
    cancel_waiting(*live, std::move(*state));
  }
}

Live* Machine::remember(Lane& lane, const LaneEntry& entry) {
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
      live.fence = {meta_.epoch, live.attempts};
      live.lease_until = entry.not_before;
      leases_.insert({live.lease_until, live.seq});
      scheduler_.lease(live, batch_.now());
      return &live;
    }
    if (entry.started) {
      live.not_before = live.place.due;
    }
  }
  halt_if_failed(live);
  look_again(lane.key, live.seq);
  scheduler_.place_read(live);
  return &live;
}

void Machine::purge_expired() {
  const Moment now = batch_.now();
  if (now < next_expiry_check_) {
    return;
  }
  const auto due = batch_.reader().expiries_until(now, limits_.expiries_per_batch);
  next_expiry_check_ = due.size() == limits_.expiries_per_batch ? now : now + limits_.expiry_poll;
  std::size_t looked_at = 0;
  for (const Expiry& record : due) {
    if (looked_at >= purges_per_batch) {
      next_expiry_check_ = now;
      return;
    }
    // A number must not be used twice: the mark that remembers it is written with the purge at the
    // latest.
    const bool too_young = std::any_of(record.messages.begin(), record.messages.end(),
                                       [this](Seq seq) { return seq > meta_.indexed_up_to; });
    if (too_young) {
      next_expiry_check_ = now + limits_.index_after;
      continue;
    }
    looked_at += record.messages.size() + record.dedups.size();
    meta_wanted_ = true;
    for (const Seq seq : record.messages) {
      const auto state = batch_.state(seq);
      if (!state) {
        expire_pulled(seq);
        continue;
      }
      // A dead letter that was retried or deleted meanwhile has a later record of its own.
      if (!is_final(state->status) || state->expires_at > now) {
        continue;
      }
      // It still holds its slot. Its last callback asks for the purge again.
      if (state->callbacks_open > 0) {
        continue;
      }
      const auto message = batch_.message(seq);
      HK_ASSERT(message != nullptr);
      HK_SOMETIMES(message_purged);
      Counters& counts = counters(message->tenant);
      if (state->in_dlq) {
        HK_SOMETIMES(dead_letter_purged);
        HK_ASSERT(counts.dead_letters > 0);
        --counts.dead_letters;
        batch_.delete_dead_letter({message->tenant, state->finished_at, seq});
      }
      ++counts.purged;
      batch_.purge_message(seq, state->attempts > 1);
    }
    for (const auto& [tenant, id] : record.dedups) {
      const auto dedup = batch_.dedup(tenant, id);
      if (dedup && dedup->expires_at <= now) {
        HK_SOMETIMES(dedup_purged);
        batch_.delete_dedup(tenant, id);
      }
    }
    batch_.put(DeleteExpiry{record.at, record.batch});
  }
}

void Machine::purge_events() {
  const Moment now = batch_.now();
  if (now < next_event_purge_) {
    return;
  }
  next_event_purge_ = now + limits_.event_purge_every;
  const Moment before = now - limits_.retention_finished;
  for (const auto& [id, tenant] : tenants_) {
    if (before > tenant.created_at) {
      batch_.put(EraseRange<Events>{Range<Events>().from(id, Moment{}, 0U).before(id, before, 0U)});
    }
  }
}

}  // namespace hk::core
