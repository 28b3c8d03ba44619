#include "core/lane/record.h"

namespace hk::core {

LaneName lane_name(const Message& message) {
  LaneName name;
  name.tenant = message.tenant;
  if (message.queue.empty() && !message.pull) {
    name.flow_key = message.flow_key;
    name.host = message.host;
    return name;
  }
  name.queue = message.queue;
  name.group = message.group;
  if (message.pull) {
    (message.pull->fifo ? name.flow_key : name.host) = LaneKey::pulled;
  }
  return name;
}

LaneKey lane_of(const Message& message) {
  const LaneName name = lane_name(message);
  return {name.tenant, std::string(name.queue), std::string(name.group), std::string(name.flow_key),
          std::string(name.host)};
}

}  // namespace hk::core
