// Keys that nobody uses go away by themselves: clients may make one per user or order.
#include <algorithm>

#include "base/sometimes.h"
#include "core/flow/flow_keys.h"

HK_SOMETIMES_DECLARE(flow_key_forgotten)

namespace hk::core {

namespace {
constexpr Millis kept_idle{3'600'000};
constexpr std::size_t checks_per_batch = 256;
}  // namespace

void FlowKeys::check_later(const Key& key) { checks_.insert({batch_.now() + kept_idle, key}); }

/// Not while anything refers to it: what waits or runs, a pin, a pause, a window that still counts.
/// A queue may hold messages of the key that are only in the index: then nobody knows.
Moment FlowKeys::forget_at(const FlowKey& flow_key) {
  const Gate& gate = gate_of(flow_key);
  const TenantLanes* lanes = scheduler_.find_tenant(flow_key.tenant);
  if (gate.users > 0 || flow_key.paused || flow_key.pinned_parallelism || flow_key.pinned_rate ||
      (lanes != nullptr && lanes->deep_queues > 0)) {
    return batch_.now() + kept_idle;
  }
  return std::max(gate.last_use + kept_idle, gate.window_start + gate.period);
}

void FlowKeys::advance() {
  const Moment now = batch_.now();
  for (std::size_t checked = 0;
       checked < checks_per_batch && !checks_.empty() && checks_.begin()->first <= now; ++checked) {
    const auto key = checks_.begin()->second;
    checks_.erase(checks_.begin());
    const FlowKey& flow = flow_keys_.at(key);
    if (const Moment at = forget_at(flow); at > now) {
      checks_.insert({at, key});
      continue;
    }
    HK_SOMETIMES(flow_key_forgotten);
    scheduler_.forget_gate(scheduler_.flow_gate(key.first, key.second));
    flow_keys_.erase(key);
    dirty_.insert(key);
  }
}

}  // namespace hk::core
