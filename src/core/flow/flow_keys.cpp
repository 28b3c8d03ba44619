#include "core/flow/flow_keys.h"

#include "base/assert.h"

namespace hk::core {

void FlowKeys::recover(Reader& reader) {
  for (const FlowKey& flow : reader.scan<FlowKey>()) {
    flow_keys_[{flow.tenant, flow.key}] = flow;
    Gate& gate = gate_of(flow);
    open_as(gate, flow);
    gate.window_start = flow.window_start;
    gate.window_count = flow.window_count;
    gate.last_use = batch_.now();  // when it was used is not stored: it is idle from now on
    check_later({flow.tenant, flow.key});
  }
}

Reply FlowKeys::execute(FlowCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

void FlowKeys::flush() {
  for (const Key& key : dirty_) {
    const auto known = flow_keys_.find(key);
    if (known == flow_keys_.end()) {
      batch_.put(Erase<FlowKey>{key.first, key.second});
      continue;
    }
    FlowKey& flow = known->second;
    const Gate& gate = gate_of(flow);
    flow.window_start = gate.window_start;
    flow.window_count = gate.window_count;
    batch_.put(Put<FlowKey>{flow});
  }
  dirty_.clear();
}

void FlowKeys::set(TenantId tenant, const std::string& key, const FlowKey& settings) {
  FlowKey& flow = make(tenant, key);
  const FlowKey before = flow;
  if (!flow.pinned_parallelism) {
    flow.parallelism = settings.parallelism;
  }
  if (!flow.pinned_rate) {
    flow.rate = settings.rate;
    flow.period = settings.period;
  }
  if (flow != before) {
    store(flow);
  }
}

void FlowKeys::started(TenantId tenant, const std::string& key) {
  const auto flow = flow_keys_.find({tenant, key});
  if (flow != flow_keys_.end() && flow->second.rate != 0) {
    dirty_.insert(flow->first);
  }
}

FlowKey& FlowKeys::make(TenantId tenant, const std::string& key) {
  const auto [at, fresh] = flow_keys_.try_emplace({tenant, key});
  if (fresh) {
    at->second.tenant = tenant;
    at->second.key = key;
    Gate& gate = gate_of(at->second);
    gate.orphan = false;
    gate.last_use = batch_.now();
    dirty_.insert(at->first);
    check_later(at->first);
  }
  return at->second;
}

void FlowKeys::store(const FlowKey& flow_key) {
  HK_ASSERT(!flow_key.key.empty());
  Gate& gate = gate_of(flow_key);
  open_as(gate, flow_key);
  dirty_.insert({flow_key.tenant, flow_key.key});
  scheduler_.gate_changed(gate, batch_.now());
}

void FlowKeys::open_as(Gate& gate, const FlowKey& flow_key) {
  gate.parallelism = flow_key.parallelism;
  gate.rate = flow_key.rate;
  gate.period = flow_key.period;
  gate.paused = flow_key.paused;
}

}  // namespace hk::core
