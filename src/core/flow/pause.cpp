#include "core/flow/flow_keys.h"

namespace hk::core {

Reply FlowKeys::decide(const SetFlowKeyPaused& command) {
  if (auto fits = check(command.tenant, command.key); !fits) {
    return std::unexpected(std::move(fits.error()));
  }
  FlowKey& flow = make(command.tenant, command.key);
  if (flow.paused != command.paused) {
    flow.paused = command.paused;
    store(flow);
  }
  return Done{};
}

}  // namespace hk::core
