/// Flow keys as they are stored.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "core/message.h"

namespace hk::core {

/// 0 = no limit. The window is stored too: a restart must not hand out a rate twice.
struct FlowKey {
  TenantId tenant{};
  std::string key{};
  std::uint32_t parallelism = 0;
  std::uint32_t rate = 0;
  Millis period{1000};
  bool paused = false;
  bool pinned_parallelism = false;
  bool pinned_rate = false;
  Moment window_start{};
  std::uint32_t window_count = 0;
  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const FlowKey& flow) {
  return {flow.tenant, flow.key};
}

}  // namespace hk::core
