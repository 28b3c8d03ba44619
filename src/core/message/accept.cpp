// What every accepted message goes through: its record, its place in a lane, its index entry.
#include <limits>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/message/callback.h"

HK_SOMETIMES_DECLARE(accepted_beyond_the_window)
HK_SOMETIMES_DECLARE(queue_made_again_while_deleted)

namespace hk::core {

MessageId Machine::accept(std::shared_ptr<Message> message) {
  HK_ASSERT(message->tenant.value() != 0);
  last_seq_ = Seq{last_seq_.value() + 1};
  message->id = MessageId{last_seq_, rng_.next()};
  message->created_at = batch_.now();
  message->not_before = std::max(message->not_before, batch_.now());
  if (message->pull) {
    if (message->pull->sent_at == Moment{}) {
      message->pull->sent_at = batch_.now();
    }
    const Queue* const queue = find_pull_queue(message->tenant, message->queue);
    HK_ASSERT(queue != nullptr);
    // What comes from another queue may be too old for this one. A record that is due before its
    // message has an index entry holds up those of everybody behind it.
    const Moment indexed = batch_.now() + 2 * limits_.index_after;
    batch_.expire_message(std::max(kept_until(*queue, *message), indexed), last_seq_);
    now_delayed(*message);
  }

  const Seq seq = last_seq_;
  const LaneKey key = lane_of(*message);
  if (!key.queue.empty()) {
    ++queue_for(key.tenant, key.queue).lag;
    dirty_queues_.insert({key.tenant, key.queue});
  }
  if (!message->flow_key.empty()) {
    flow_key_for(message->tenant, message->flow_key);  // it may have been forgotten meanwhile
  }
  Lane& lane = lane_for(key);
  auto owned = std::make_unique<Live>();
  Live& live = *owned;
  live.seq = seq;
  live.lane = &lane;
  live.not_before = message->not_before;
  live.place = {key.ordered() ? Moment{} : live.not_before, seq};
  live.callbacks = callbacks_of(*message);
  keep(std::move(owned));
  if (lane.ordered()) {
    scheduler_.use_own_gates(live, message->host, message->flow_key);
  }

  for (Gate* passed : lane.gates) {
    passed->last_use = batch_.now();
  }
  if (live.flow != nullptr) {
    live.flow->last_use = batch_.now();
  }

  Counters& counts = counters(message->tenant);
  ++counts.accepted;
  ++counts.pending;
  batch_.event(message->tenant, seq, EventKind::created);
  const MessageId id = message->id;
  batch_.put_message(std::move(message));
  young_.push_back({seq, batch_.now()});
  wait_in_lane(live);
  return id;
}

/// REQUIRES: its lane is set.
Live& Machine::keep(std::unique_ptr<Live> live) {
  Live& kept = *live;
  kept.pull = kept.lane->pull;
  if (kept.pull != nullptr) {
    kept.pull->live.emplace_hint(kept.pull->live.end(), kept.seq, &kept);
  }
  live_.emplace(kept.seq, std::move(live));
  return kept;
}

void Machine::wait_in_lane(Live& live) {
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

void Machine::index(Live& live) {
  if (live.indexed) {
    return;
  }
  live.indexed = true;
  batch_.put(
      PutLaneEntry{live.lane->key,
                   {.place = live.place,
                    .not_before = live.not_before,
                    .attempts = live.attempts,
                    .flow_key = live.flow != nullptr ? live.flow->name : std::string{},
                    .host = live.destination != nullptr ? live.destination->name : std::string{},
                    .started = live.started,
                    .cancel_requested = live.cancel_requested,
                    .finished = live.finished,
                    .first_received_at = live.first_received_at,
                    .forgiven = live.forgiven}});
}

void Machine::unindex(Live& live) {
  if (live.indexed) {
    live.indexed = false;
    batch_.put(DeleteLaneEntry{live.lane->key, live.place});
  }
}

void Machine::forget(Live& live) {
  HK_ASSERT(!live.leased);
  scheduler_.unuse_own_gates(live);
  if (live.pull != nullptr) {
    scheduler_.leave_pull_queue(live);
  }
  live_.erase(live.seq);
}

Lane& Machine::lane_for(const LaneKey& key) {
  if (Lane* known = scheduler_.find_lane(key)) {
    return *known;
  }
  Lane& lane = scheduler_.lane(key);
  if (key.queue.empty()) {
    return lane;
  }
  const auto queue = queues_.find({key.tenant, key.queue});
  // Its queue may be of the other kind by now: deleted, and made again.
  if (key.is_pulled()) {
    // As many as are asked for: what holds a group back is what of it is out.
    lane.slots_max = std::numeric_limits<std::uint32_t>::max();
    scheduler_.serve_pulled(lane);
    return lane;
  }
  // A group keeps its order by having one slot, whatever the queue's parallelism.
  const bool wide = key.group.empty() && queue != queues_.end();
  lane.slots_max = wide ? queue->second.parallelism : 1;
  return lane;
}

Queue& Machine::queue_for(TenantId tenant, const std::string& name) {
  const auto [at, fresh] = queues_.try_emplace({tenant, name});
  Queue& queue = at->second;
  if (!fresh && !queue.deleted) {
    return queue;
  }
  if (!fresh) {
    HK_SOMETIMES(queue_made_again_while_deleted);
  }
  // What it had before its deletion is still counted, and still being cancelled.
  queue = Queue{.tenant = tenant,
                .name = name,
                .parallelism = limits_.queue_parallelism_default,
                .paused = false,
                .created_at = batch_.now(),
                .updated_at = batch_.now(),
                .lag = queue.lag,
                .sweep_up_to = queue.sweep_up_to,
                .doomed = queue.doomed,
                .deleted = false};
  dirty_queues_.insert(at->first);
  use_queue_settings(queue);
  return queue;
}

void Machine::use_queue_settings(const Queue& queue) {
  Gate& gate = scheduler_.queue_gate(queue.tenant, queue.name);
  gate.orphan = false;
  gate.paused = queue.paused;
  scheduler_.gate_changed(gate, batch_.now());
  scheduler_.set_slots({queue.tenant, queue.name, {}, {}, {}}, queue.parallelism, batch_.now());
}

FlowKey& Machine::flow_key_for(TenantId tenant, const std::string& key) {
  const auto [at, fresh] = flow_keys_.try_emplace({tenant, key});
  if (fresh) {
    at->second.tenant = tenant;
    at->second.key = key;
    Gate& gate = scheduler_.flow_gate(tenant, key);
    gate.orphan = false;
    gate.last_use = batch_.now();
    dirty_flow_keys_.insert(at->first);
    check_flow_key_later(at->first);
  }
  return at->second;
}

void Machine::store_flow_key(FlowKey& flow_key) {
  HK_ASSERT(!flow_key.key.empty());
  Gate& gate = scheduler_.flow_gate(flow_key.tenant, flow_key.key);
  gate.parallelism = flow_key.parallelism;
  gate.rate = flow_key.rate;
  gate.period = flow_key.period;
  gate.paused = flow_key.paused;
  dirty_flow_keys_.insert({flow_key.tenant, flow_key.key});
  scheduler_.gate_changed(gate, batch_.now());
}

}  // namespace hk::core
