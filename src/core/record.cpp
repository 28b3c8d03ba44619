#include "core/record.h"

namespace hk::core {

LaneKey lane_of(const Message& message) {
  if (!message.queue.empty()) {
    return {message.tenant, message.queue, message.group, {}, {}};
  }
  return {message.tenant, {}, {}, message.flow_key, message.host};
}

}  // namespace hk::core
