// Which lanes and gates there are: made when first needed, forgotten when empty.
#include <functional>

#include "base/assert.h"
#include "core/lane/scheduler.h"

namespace hk::core {

namespace {

void mix(std::size_t& hash, std::size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6U) + (hash >> 2U);
}

}  // namespace

std::size_t Scheduler::KeyHash::operator()(const LaneName& name) const {
  std::size_t hash = name.tenant.value();
  const std::hash<std::string_view> text;
  mix(hash, text(name.queue));
  mix(hash, text(name.group));
  mix(hash, text(name.flow_key));
  mix(hash, text(name.host));
  return hash;
}

std::size_t Scheduler::GateHash::operator()(const GateId& id) const {
  std::size_t hash = std::size_t{id.tenant.value()} * 4 + static_cast<std::size_t>(id.kind);
  mix(hash, std::hash<std::string>{}(id.name));
  return hash;
}

TenantLanes& Scheduler::tenant(TenantId id) {
  auto& slot = tenants_[id];
  if (!slot) {
    slot = std::make_unique<TenantLanes>();
    slot->id = id;
  }
  return *slot;
}

const TenantLanes* Scheduler::find_tenant(TenantId id) const {
  const auto found = tenants_.find(id);
  return found == tenants_.end() ? nullptr : found->second.get();
}

Gate& Scheduler::gate(Gate::Kind kind, TenantId tenant_id, const std::string& name) {
  auto& slot = gates_[GateId{kind, tenant_id, name}];
  if (!slot) {
    slot = std::make_unique<Gate>();
    slot->kind = kind;
    slot->serial = next_serial_++;
    slot->name = name;
    slot->tenant = tenant_id;
    if (kind == Gate::Kind::destination) {
      slot->parallelism = limits_.destination_parallelism;
    }
    gates_by_serial_[slot->serial] = slot.get();
  }
  return *slot;
}

const Gate* Scheduler::find_gate(Gate::Kind kind, TenantId tenant_id,
                                 const std::string& name) const {
  const auto found = gates_.find(GateId{kind, tenant_id, name});
  return found == gates_.end() ? nullptr : found->second.get();
}

Gate& Scheduler::flow_gate(TenantId tenant_id, const std::string& key) {
  return gate(Gate::Kind::flow, tenant_id, key);
}

Gate& Scheduler::queue_gate(TenantId tenant_id, const std::string& queue) {
  return gate(Gate::Kind::queue, tenant_id, queue);
}

Gate* Scheduler::find_flow_gate(TenantId tenant_id, const std::string& key) {
  const auto found = gates_.find(GateId{Gate::Kind::flow, tenant_id, key});
  return found == gates_.end() ? nullptr : found->second.get();
}

void Scheduler::add_gate(Lane& lane, Gate& gate) {
  HK_ASSERT(lane.empty());
  lane.gates.push_back(&gate);
  ++gate.users;
}

PullQueue* Scheduler::find_pull_queue(TenantId tenant_id, const std::string& queue) {
  const auto found = pull_queues_.find({tenant_id, queue});
  return found == pull_queues_.end() ? nullptr : &found->second;
}

PullQueue& Scheduler::pull_queue(TenantId tenant_id, const std::string& queue) {
  const auto [at, fresh] = pull_queues_.try_emplace({tenant_id, queue});
  if (fresh) {
    at->second.tenant = tenant_id;
    at->second.name = queue;
  }
  at->second.orphan = false;
  return at->second;
}

void Scheduler::serve_pulled(Lane& lane) {
  HK_ASSERT(lane.pull == nullptr);
  lane.pull = &pull_queue(lane.key.tenant, lane.key.queue);
  ++lane.pull->lanes;
}

void Scheduler::leave_pull_queue(const Live& live) {
  const std::size_t erased = live.pull->live.erase(live.seq);
  HK_ASSERT(erased == 1);
  live.pull->halted.erase(live.seq);
  drop_if_unused(*live.pull);
}

void Scheduler::forget_pull_queue(TenantId tenant_id, const std::string& queue) {
  if (PullQueue* const pull = find_pull_queue(tenant_id, queue)) {
    pull->orphan = true;
    drop_if_unused(*pull);
  }
}

bool Scheduler::drop_if_unused(PullQueue& queue) {
  if (!queue.orphan || queue.lanes != 0 || !queue.live.empty() || queue.fed) {
    return false;
  }
  HK_ASSERT(queue.in_flight == 0 && queue.ready.empty() && queue.halted.empty());
  HK_ASSERT(queue.pusher == nullptr);
  pull_queues_.erase({queue.tenant, queue.name});
  return true;
}

void Scheduler::gate_changed(Gate& changed, Moment now) {
  if (changed.timer) {
    timers_.erase(Timer{*changed.timer, true, changed.serial});
    changed.timer.reset();
  }
  wake_one(changed, now);
  if (changed.kind == Gate::Kind::queue) {
    // Its lanes have not parked: the whole queue was shut (pull_next).
    PullQueue* const pull = find_pull_queue(changed.tenant, changed.name);
    if (pull != nullptr && !pull->ready.empty()) {
      feed(*pull);
    }
  }
}

void Scheduler::forget_gate(Gate& unrecorded) {
  unrecorded.orphan = true;
  drop_gate_if_unused(unrecorded);
}

void Scheduler::drop_gate_if_unused(Gate& unused) {
  // Flow and queue gates carry settings: they stay as long as those are stored.
  const bool recorded = unused.kind == Gate::Kind::flow || unused.kind == Gate::Kind::queue;
  if (unused.users != 0 || (recorded && !unused.orphan)) {
    return;
  }
  HK_ASSERT(unused.in_use == 0);
  HK_ASSERT(unused.parked.empty());
  if (unused.timer) {
    timers_.erase(Timer{*unused.timer, true, unused.serial});
  }
  uncrowd(unused);
  gates_by_serial_.erase(unused.serial);
  gates_.erase(GateId{unused.kind, unused.tenant, unused.name});
}

Lane* Scheduler::find_lane(const LaneName& name) {
  const auto found = lanes_.find(name);
  return found == lanes_.end() ? nullptr : found->second.get();
}

Lane& Scheduler::lane(const LaneKey& key) {
  auto& slot = lanes_[key];
  if (slot) {
    return *slot;
  }
  slot = std::make_unique<Lane>();
  slot->key = key;
  slot->serial = next_serial_++;
  slot->tenant = &tenant(key.tenant);
  if (!key.queue.empty()) {
    slot->slots_max = 1;
    slot->gates.push_back(&queue_gate(key.tenant, key.queue));
  } else {
    if (!key.host.empty()) {
      slot->gates.push_back(&gate(Gate::Kind::destination, key.tenant, key.host));
    }
    if (!key.flow_key.empty()) {
      slot->gates.push_back(&flow_gate(key.tenant, key.flow_key));
    }
  }
  for (Gate* used : slot->gates) {
    ++used->users;
  }
  lanes_by_serial_[slot->serial] = slot.get();
  return *slot;
}

void Scheduler::forget_if_empty(Lane& lane) {
  if (!lane.empty() || lane.where != Lane::Where::idle || lane.refill_wanted) {
    return;
  }
  HK_ASSERT(lane.turn_of == nullptr);
  const std::vector<Gate*> gates = lane.gates;
  PullQueue* const pull = lane.pull;
  lanes_by_serial_.erase(lane.serial);
  const LaneKey key = lane.key;
  lanes_.erase(key);
  for (Gate* used : gates) {
    --used->users;
    drop_gate_if_unused(*used);
  }
  if (pull != nullptr) {
    --pull->lanes;
    drop_if_unused(*pull);
  }
}

void Scheduler::use_own_gates(Live& live, const std::string& host, const std::string& flow_key) {
  HK_ASSERT(live.destination == nullptr && live.flow == nullptr);
  HK_ASSERT(live.lane->ordered());
  const TenantId owner = live.lane->key.tenant;
  if (!host.empty()) {
    live.destination = &gate(Gate::Kind::destination, owner, host);
    ++live.destination->users;
  }
  if (!flow_key.empty()) {
    live.flow = &flow_gate(owner, flow_key);
    ++live.flow->users;
  }
}

void Scheduler::unuse_own_gates(Live& live) {
  for (Gate* used : live.own_gates()) {
    if (used != nullptr) {
      --used->users;
      drop_gate_if_unused(*used);
    }
  }
  live.destination = nullptr;
  live.flow = nullptr;
  live.push = nullptr;
}

}  // namespace hk::core
