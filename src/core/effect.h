/// What must happen outside once the batch that justifies it is durable.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/record.h"

namespace hk::core {

/// Where a queue pushes to: its messages have no URL of their own.
struct PushTarget {
  std::string url{};
  std::string host{};  ///< of url, as in Message
  Millis timeout{};
};

/// What goes around the delivery of a webhook: who signs it, and how. Secrets are as they are
/// stored, sealed; only those that sign at the attempt's beginning.
struct WebhookTarget {
  std::string id{};  ///< of the event, as its receiver knows it
  std::vector<webhook::SigningSecret> secrets{};
  webhook::HeaderSet header_set{};
  bool sign_standard = true;
  bool sign_stripe = false;
  std::string stripe_header{};
  std::vector<std::uint32_t> give_up_statuses{};
  std::string attempt{};  ///< "1", "2", …, or "m1": what Hikyaku-Attempt says
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
  /// Not null: the delivery of a webhook. `message` is then not the stored one but what is sent:
  /// with the endpoint's URL and headers, and the event's body.
  std::shared_ptr<const WebhookTarget> webhook{};
};

/// The tenant's credentials changed: adapters and signers read them again.
struct TenantChanged {
  PartitionId partition{};
  Tenant tenant{};
};

using Effect = std::variant<StartAttempt, TenantChanged>;

}  // namespace hk::core
