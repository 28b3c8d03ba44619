#include "core/machine.h"

namespace hk::core {

Reply Machine::decide(const SetFlowKeyPaused& command) {
  if (auto fits = check_flow_key(command.tenant, command.key); !fits) {
    return std::unexpected(std::move(fits.error()));
  }
  FlowKey& flow = flow_key_for(command.tenant, command.key);
  if (flow.paused != command.paused) {
    flow.paused = command.paused;
    store_flow_key(flow);
  }
  return Done{};
}

}  // namespace hk::core
