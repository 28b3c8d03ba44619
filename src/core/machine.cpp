#include "core/machine.h"

#include <algorithm>

#include "base/assert.h"

namespace hk::core {

Machine::Machine(const Limits& limits, Rng& rng, Zones& zones)
    : limits_(limits), rng_(rng), zones_(zones), scheduler_(limits_) {
  HK_ASSERT(limits_.lane_window_min >= 2);
  HK_ASSERT(limits_.quantum > 0);
}

Machine::~Machine() = default;

void Machine::begin(Moment now, Reader& reader) {
  HK_ASSERT(meta_.epoch > 0);  // recovered
  meta_.time = std::max(meta_.time, now);
  batch_.begin(meta_.time, ++batch_number_, reader);
  // Here, because the reader shows everything decided so far and nothing is decided yet.
  refill_lanes();
}

Reply Machine::execute(Command command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Batch::Output Machine::take() {
  for (const auto& key : dirty_queues_) {
    const auto queue = queues_.find(key);
    if (queue == queues_.end()) {
      batch_.put(DeleteQueue{key.first, key.second});
    } else {
      batch_.put(PutQueue{queue->second});
    }
  }
  dirty_queues_.clear();
  for (const auto& key : dirty_flow_keys_) {
    const auto known = flow_keys_.find(key);
    if (known == flow_keys_.end()) {
      batch_.put(DeleteFlowKey{key.first, key.second});
      continue;
    }
    FlowKey& flow = known->second;
    const Gate& gate = scheduler_.flow_gate(flow.tenant, flow.key);
    flow.window_start = gate.window_start;
    flow.window_count = gate.window_count;
    batch_.put(PutFlowKey{flow});
  }
  dirty_flow_keys_.clear();
  write_delayed();
  for (const TenantId tenant : dirty_counters_) {
    const Counters& counts = counters_.at(tenant);
    HK_ASSERT(counts.conserved());
    batch_.put(PutCounters{tenant, counts});
  }
  dirty_counters_.clear();
  write_meta();
  return batch_.take();
}

/// Not in every batch: recovery reads on from whatever was last written.
void Machine::write_meta() {
  const bool due = batch_.has_mutations() && meta_.time >= meta_written_.time + limits_.meta_every;
  const bool far = meta_.indexed_up_to.value() >=
                   meta_written_.indexed_up_to.value() + limits_.meta_every_messages;
  if (due || far || meta_wanted_ || meta_.epoch != meta_written_.epoch) {
    batch_.put(PutMeta{meta_});
    meta_written_ = meta_;
    meta_wanted_ = false;
  }
}

Counters& Machine::counters(TenantId tenant) {
  dirty_counters_.insert(tenant);
  return counters_[tenant];
}

Live* Machine::find_live(Seq seq) {
  const auto found = live_.find(seq);
  return found == live_.end() ? nullptr : found->second.get();
}

bool Machine::leased(Seq seq) const {
  const auto found = live_.find(seq);
  return found != live_.end() && found->second->leased;
}

std::shared_ptr<const Message> Machine::find_message(TenantId tenant, MessageId id) {
  auto message = batch_.message(id.seq);
  if (message == nullptr || message->tenant != tenant || message->id != id) {
    return nullptr;
  }
  return message;
}

std::optional<Moment> Machine::wake_at() const {
  if (scheduler_.wants_refill() || (starting_ && scheduler_.has_runnable()) ||
      scheduler_.has_fed() || (!starting_ && !waits_.empty()) || !sweeps_.empty() ||
      !retimes_.empty() || !due_schedules_.empty()) {
    return meta_.time;
  }
  Moment at = std::min({next_expiry_check_, next_event_purge_, next_schedule_at_});
  if (const auto timer = scheduler_.next_timer()) {
    at = std::min(at, *timer);
  }
  if (!waits_.empty()) {
    at = std::min(at, std::get<Moment>(*waits_.begin()));
  }
  if (const auto move = next_move()) {
    at = std::min(at, *move);
  }
  if (!flow_checks_.empty()) {
    at = std::min(at, flow_checks_.begin()->first);
  }
  if (!leases_.empty()) {
    at = std::min(at, leases_.begin()->first);
  }
  if (!young_.empty()) {
    at = std::min(at, young_.front().accepted_at + limits_.index_after);
  }
  return at;
}

}  // namespace hk::core
