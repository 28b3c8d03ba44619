// What an operator fixes about a flow key, whatever messages bring.
#include "core/flow/flow_keys.h"
#include "core/tenant/tenants.h"

namespace hk::core {

namespace {
constexpr Millis period_max{7LL * 86'400'000};
}

Result<void> FlowKeys::check(TenantId tenant, const std::string& key) const {
  if (!tenants_.contains(tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (key.empty()) {
    return fail(ErrorKind::invalid_argument, "a flow-control key must not be empty");
  }
  return {};
}

/// Nothing counted yet, from now on.
void FlowKeys::restart_window(const FlowKey& flow_key) {
  Gate& gate = gate_of(flow_key);
  gate.window_start = batch_.now();
  gate.window_count = 0;
}

/// A rate that is pinned begins with a new window: what messages used before it was another limit.
Reply FlowKeys::decide(const PinFlowKey& command) {
  if (auto fits = check(command.tenant, command.key); !fits) {
    return std::unexpected(std::move(fits.error()));
  }
  if (command.parallelism == 0U || command.rate == 0U) {
    return fail(ErrorKind::invalid_argument, "parallelism and rate of a pin must be at least 1");
  }
  if (command.rate && (command.period < Millis{1} || command.period > period_max)) {
    return fail(ErrorKind::invalid_argument,
                "the period of a pinned rate must be more than 0 and at most 7 days");
  }
  if (!command.parallelism && !command.rate) {
    return Done{};
  }
  FlowKey& flow = make(command.tenant, command.key);
  if (command.parallelism) {
    flow.parallelism = *command.parallelism;
    flow.pinned_parallelism = true;
  }
  if (command.rate) {
    flow.rate = *command.rate;
    flow.period = command.period;
    flow.pinned_rate = true;
    restart_window(flow);
  }
  store(flow);
  return Done{};
}

/// The values stay until the next message brings others. What is not there is not pinned.
Reply FlowKeys::decide(const UnpinFlowKey& command) {
  const auto found = flow_keys_.find({command.tenant, command.key});
  if (found == flow_keys_.end()) {
    return Done{};
  }
  FlowKey& flow = found->second;
  flow.pinned_parallelism = flow.pinned_parallelism && !command.parallelism;
  flow.pinned_rate = flow.pinned_rate && !command.rate;
  dirty_.insert(found->first);
  return Done{};
}

Reply FlowKeys::decide(const ResetFlowRate& command) {
  const auto found = flow_keys_.find({command.tenant, command.key});
  if (found == flow_keys_.end()) {
    return Done{};
  }
  restart_window(found->second);
  store(found->second);
  return Done{};
}

}  // namespace hk::core
