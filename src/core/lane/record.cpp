#include "core/lane/record.h"

namespace hk::core {

LaneKey lane_of(const Message& message) {
  if (message.pull) {
    const std::string marked = LaneKey::pulled;
    return message.pull->fifo ? LaneKey{message.tenant, message.queue, message.group, marked, {}}
                              : LaneKey{message.tenant, message.queue, message.group, {}, marked};
  }
  if (!message.queue.empty()) {
    return {message.tenant, message.queue, message.group, {}, {}};
  }
  return {message.tenant, {}, {}, message.flow_key, message.host};
}

}  // namespace hk::core
