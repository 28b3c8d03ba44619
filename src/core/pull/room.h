/// How much a batch may still take out of queues that are pulled from, and tasks look at. Pure.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/limits.h"
#include "core/pull/size.h"

namespace hk::core {

struct MoveRoom {
  std::size_t messages;      ///< without handing it out: too old, to the dead letters, back
  std::size_t bytes;         ///< likewise
  std::size_t handed_bytes;  ///< to hand it out

  explicit MoveRoom(const Limits& limits)
      : messages(limits.moves_per_batch),
        bytes(limits.moved_bytes_per_batch),
        handed_bytes(limits.batch_bytes) {}

  [[nodiscard]] bool is_used_up() const { return messages == 0 || bytes == 0 || handed_bytes == 0; }
  void take(const Message& message) {
    messages -= std::min<std::size_t>(messages, 1);
    bytes -= std::min(bytes, pulled_bytes(message));
  }
  /// To read it, of whatever kind it is.
  void look_at(const Message& message) {
    messages -= std::min<std::size_t>(messages, 1);
    bytes -= std::min(bytes, message.body.size());
  }
  void hand_out(const Message& message) {
    handed_bytes -= std::min(handed_bytes, pulled_bytes(message));
  }
};

}  // namespace hk::core
