/// What is stored of queues that are pulled from, beside their own records.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/message.h"

namespace hk::core {

/// How many messages of a queue become due in one second.
struct DelayedSecond {
  struct Slot {
    std::uint32_t ms = 0;  ///< of the second
    std::uint32_t count = 0;
    friend bool operator==(const Slot&, const Slot&) = default;
  };

  TenantId tenant{};
  Moment second{};  ///< its begin
  std::string queue{};
  std::vector<Slot> slots{};  ///< in order, none of them 0; not empty
  friend bool operator==(const DelayedSecond&, const DelayedSecond&) = default;
};
inline std::tuple<const TenantId&, const Moment&, const std::string&> key_of(
    const DelayedSecond& delayed) {
  return {delayed.tenant, delayed.second, delayed.queue};
}

}  // namespace hk::core
