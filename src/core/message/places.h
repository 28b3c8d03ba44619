/// What an attempt holds in memory. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "core/message.h"

namespace hk::core {

/// In places.
inline std::uint32_t places_of(const Message& message, const Limits& limits) {
  constexpr std::size_t most = 1U << 16U;  // sums must not overflow, whatever a body's limit is
  return static_cast<std::uint32_t>(1 +
                                    std::min(message.body.size() / limits.bytes_per_place, most));
}

}  // namespace hk::core
