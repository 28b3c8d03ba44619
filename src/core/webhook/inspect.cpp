// What is known of an endpoint only in memory.
#include "core/webhook/gate_name.h"
#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

Reply Webhooks::decide(const InspectEndpoint& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  const Endpoint& endpoint = *found->endpoint;
  const Gate* const gate = scheduler_.find_flow_gate(
      command.tenant, gate_name(GateOf::endpoint, endpoint.application, endpoint.number));
  // A gate that nothing waits or runs behind is not there.
  return EndpointInspected{.running = gate == nullptr ? 0 : gate->in_use};
}

}  // namespace hk::core::webhook
