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

/// Several publishes in one atomic accept. One that is refused does not stop the others.
struct PublishBatch {
  std::vector<Publish> items{};
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
  /// What the new message has in place of the old one's. The callbacks of a callback are none.
  struct Changes {
    std::optional<std::string> method{};
    std::optional<std::vector<Header>> headers{};
    std::optional<std::uint32_t> retries_max{};
    std::optional<RetryDelay> retry_delay{};
    std::optional<Millis> timeout{};
    std::optional<std::vector<std::string>> labels{};
    std::optional<Callback> callback{};
    std::optional<Callback> failure_callback{};
    std::optional<FlowKey> flow{};  ///< its key and settings
    Moment not_before{};
    Millis delay{};
  };
  std::shared_ptr<const Changes> changes{};  ///< null: none
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
/// Its messages are cancelled, a few per batch; those under way end as cancelled messages do.
struct DeleteQueueCommand {
  TenantId tenant{};
  std::string name{};
};

/// Adds endpoints, or changes those with the same name or the same url; creates the group.
struct UpsertEndpoints {
  TenantId tenant{};
  std::string group{};
  std::vector<Endpoint> endpoints{};
};
/// Those whose name or url is given; a group without endpoints is deleted.
struct RemoveEndpoints {
  TenantId tenant{};
  std::string group{};
  std::vector<Endpoint> endpoints{};
};
struct SetGroupOptions {
  TenantId tenant{};
  std::string group{};
  std::vector<Header> options{};
};
struct DeleteUrlGroupCommand {
  TenantId tenant{};
  std::string group{};
};

/// Creates, or replaces all of it but created_at and the pause. An empty id: the core chooses one.
struct UpsertSchedule {
  Schedule schedule{};
};
struct DeleteScheduleCommand {
  TenantId tenant{};
  std::string id{};
};
/// While paused, runs are skipped, not postponed.
struct SetSchedulePaused {
  TenantId tenant{};
  std::string id{};
  bool paused = false;
};

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
/// Flow keys as they stand, with what waits and runs. With a key: that one, or not_found.
struct InspectFlowKeys {
  TenantId tenant{};
  std::optional<std::string> key{};
  std::string search{};  ///< part of the key; "" = all
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
    std::variant<Publish, PublishBatch, CompleteAttempt, CancelMessage, RetryDeadLetter,
                 DeleteDeadLetterCommand, UpsertQueue, DeleteQueueCommand, UpsertEndpoints,
                 RemoveEndpoints, SetGroupOptions, DeleteUrlGroupCommand, UpsertSchedule,
                 DeleteScheduleCommand, SetSchedulePaused, SetFlowKeyPaused, PinFlowKey,
                 UnpinFlowKey, ResetFlowRate, InspectFlowKeys, UpsertTenant, Inspect>;

// ---- Replies ----

struct Published {
  MessageId id{};
  bool deduplicated = false;
};
/// To a URL group: one per endpoint, in the group's order.
struct FannedOut {
  struct One {
    Published published{};
    std::string url{};
  };
  std::vector<One> messages{};
};
/// In the order of the items.
struct BatchPublished {
  std::vector<Result<std::variant<Published, FannedOut>>> items{};
};
struct ScheduleStored {
  std::string id{};
};
struct FlowKeyView {
  FlowKey flow{};
  std::uint64_t waiting = 0;  ///< due, but held by this key
  std::uint32_t running = 0;
};
struct FlowKeysInspected {
  std::vector<FlowKeyView> keys{};
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

using Reply = Result<std::variant<Done, Published, FannedOut, BatchPublished, Canceled,
                                  ScheduleStored, FlowKeysInspected, TenantStored, Inspected>>;

}  // namespace hk::core
