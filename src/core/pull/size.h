/// How large a message of a queue is that is pulled from. Pure.
#pragma once

#include <cstddef>

#include "core/message.h"

namespace hk::core {

/// What counts against the size that a queue allows: the body and all attributes.
/// REQUIRES: message.pull.
inline std::size_t pulled_bytes(const Message& message) {
  std::size_t bytes = message.body.size();
  for (const Attribute& one : message.pull->attributes) {
    bytes += one.name.size() + one.type.size() + one.value.size();
  }
  return bytes;
}

}  // namespace hk::core
