/// What must happen outside once the batch that justifies it is durable.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <variant>

#include "core/record.h"

namespace hk::core {

/// Where a queue pushes to: its messages have no URL of their own.
struct PushTarget {
  std::string url{};
  std::string host{};  ///< of url, as in Message
  Millis timeout{};
};

/// Send one attempt and report back with CompleteAttempt. The lease runs out at `lease_until`
/// (partition time): a report after that is refused.
struct StartAttempt {
  PartitionId partition{};  ///< the report goes back to it
  MessageId id{};
  TenantId tenant{};
  Fence fence{};
  std::uint32_t retried = 0;  ///< retries made before this one: what the receiver is told
  Moment started_at{};
  Moment lease_until{};
  std::array<std::uint8_t, 8> span_id{};
  std::shared_ptr<const Message> message{};  ///< never null when the engine hands it on
  std::shared_ptr<const PushTarget> to{};    ///< null: to the message's own URL
};

/// The tenant's credentials changed: adapters and signers read them again.
struct TenantChanged {
  PartitionId partition{};
  Tenant tenant{};
};

using Effect = std::variant<StartAttempt, TenantChanged>;

}  // namespace hk::core
