/// Commands about flow keys, and their replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/flow/record.h"

namespace hk::core {

/// Fixes the given parts: messages no longer change them. Rate and period are one part.
struct PinFlowKey {
  TenantId tenant{};
  std::string key{};
  std::optional<std::uint32_t> parallelism{};
  std::optional<std::uint32_t> rate{};
  Millis period{1000};
};

struct UnpinFlowKey {
  TenantId tenant{};
  std::string key{};
  bool parallelism = false;
  bool rate = false;
};

/// A new window begins now, with nothing counted.
struct ResetFlowRate {
  TenantId tenant{};
  std::string key{};
};

/// Flow keys as they stand, with what waits and runs. With a key: that one, or not_found. Without:
/// some of them, in order; the reply says where to go on.
struct InspectFlowKeys {
  TenantId tenant{};
  std::optional<std::string> key{};
  std::string search{};  ///< part of the key; "" = all
  std::string after{};   ///< those behind it; "" = from the first
};

struct SetFlowKeyPaused {
  TenantId tenant{};
  std::string key{};
  bool paused = false;
};

using FlowCommand =
    std::variant<PinFlowKey, UnpinFlowKey, ResetFlowRate, InspectFlowKeys, SetFlowKeyPaused>;

// ---- replies ----

struct FlowKeyView {
  FlowKey flow{};
  std::uint64_t waiting = 0;  ///< due, but held by this key
  std::uint32_t running = 0;
};

struct FlowKeysInspected {
  std::vector<FlowKeyView> keys{};
  std::string next{};  ///< there may be more after this one; "" = there is none
};

using FlowReply = std::variant<FlowKeysInspected>;

}  // namespace hk::core
