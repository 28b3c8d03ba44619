/// Everything that can be asked of the core, and its answers. One variant each; an adapter's whole
/// job is to make one of the first and to translate one of the second.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/record.h"

namespace hk::core {

/// Accepts a message, or recognises it by its dedup id.
struct Publish {
  /// id and created_at are set by the core. Unique to this command: nobody else holds it yet.
  std::unique_ptr<Message> message{};
  Millis dedup_window{600'000};
  /// Settings that come with a message of that flow key; pinned parts are left alone.
  std::optional<FlowKey> flow{};
  /// Not due before it has passed since acceptance, on the core's own clock.
  Millis delay{};
};

/// How a push attempt ended, as delivery/ saw it. Refused when its lease is no longer the current
/// one.
struct CompleteAttempt {
  MessageId id{};
  Fence fence{};
  Attempt attempt{};
  bool delivered = false;
  bool give_up = false;                 ///< the receiver said that no retry can help
  std::optional<Millis> retry_after{};  ///< the receiver's own wish; replaces the policy's delay
};

/// Before it started: at once. While it runs: no attempt follows the running one.
struct CancelMessage {
  TenantId tenant{};
  MessageId id{};
};

/// Takes a dead letter out and publishes its content as a new message.
struct RetryDeadLetter {
  TenantId tenant{};
  DeadLetterKey key{};
};
struct DeleteDeadLetterCommand {
  TenantId tenant{};
  DeadLetterKey key{};
};

struct UpsertQueue {
  TenantId tenant{};
  std::string name{};
  std::optional<std::uint32_t> parallelism{};
  std::optional<bool> paused{};
};
struct SetFlowKeyPaused {
  TenantId tenant{};
  std::string key{};
  bool paused = false;
};

/// Creates (id 0: the core chooses one) or replaces a tenant.
struct UpsertTenant {
  Tenant tenant{};
};

/// What is known of a message only in memory: its lease and the gates that hold it.
struct Inspect {
  TenantId tenant{};
  MessageId id{};
};

using Command =
    std::variant<Publish, CompleteAttempt, CancelMessage, RetryDeadLetter, DeleteDeadLetterCommand,
                 UpsertQueue, SetFlowKeyPaused, UpsertTenant, Inspect>;

// ---- Replies ----

struct Published {
  MessageId id{};
  bool deduplicated = false;
};
struct Canceled {
  bool running = false;  ///< an attempt is on the wire and may still land
};
struct Done {};
struct TenantStored {
  TenantId id{};
};

/// One reason why a waiting message does not run, and when that is expected to end.
struct Hold {
  std::string gate{};  ///< "delay", "retry", "queue_paused", "parallelism", "rate", "flow_paused",
                       ///< "order", …
  std::string detail{};
  std::optional<Moment> opens_at{};
};
struct Inspected {
  bool running = false;
  Fence fence{};
  Moment started_at{};
  Moment lease_until{};
  std::vector<Hold> holds{};
};

using Reply = Result<std::variant<Done, Published, Canceled, TenantStored, Inspected>>;

}  // namespace hk::core
