#include "core/machine.h"

namespace hk::core {

Reply Machine::decide(const SetFlowKeyPaused& command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (command.key.empty()) {
    return fail(ErrorKind::invalid_argument, "a flow-control key must not be empty");
  }
  FlowKey& flow = flow_key_for(command.tenant, command.key);
  if (flow.paused != command.paused) {
    flow.paused = command.paused;
    store_flow_key(flow);
  }
  return Done{};
}

}  // namespace hk::core
