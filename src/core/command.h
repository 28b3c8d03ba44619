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
  bool own_delay = false;  ///< pulled: the queue's delay does not count, not even if `delay` is 0
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
  /// Neither it nor its queue was named: only what the QStash API made is meant (made_by_qstash),
  /// and anything else is not_found.
  bool unnamed = false;
};

/// Takes a dead letter out and publishes its content as a new message.
struct RetryDeadLetter {
  TenantId tenant{};
  DeadLetterKey key{};
  struct Target {
    std::string url{};
    std::string host{};  ///< of url, as in Message
  };
  /// What the new message has in place of the old one's. The callbacks of a callback are none.
  struct Changes {
    std::optional<Target> to{};  ///< it is not for its URL group any more then
    std::optional<std::string> body{};
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

/// Makes a queue that is pulled from. One of that name stays as it is: QueueMade says so.
struct CreatePullQueue {
  TenantId tenant{};
  std::string name{};
  PullSettings settings{};
};
/// Replaces all settings. conflict: they are not the version that was read.
struct SetPullSettings {
  TenantId tenant{};
  std::string name{};
  PullSettings settings{};  ///< with the version that was read; the core raises it
};
/// Cancels all that it holds, and forgets its dedup ids.
struct PurgeQueue {
  TenantId tenant{};
  std::string name{};
};

/// Asks for messages. Done means that HandOut follows: at once if there are some or wait is 0, at
/// the latest when the wait is over. not_found: no such queue.
struct Receive {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
  std::uint32_t max = 1;
  std::optional<Millis> visibility{};  ///< the queue's otherwise
  std::optional<Millis> wait{};        ///< the queue's otherwise
  std::string attempt_id{};            ///< FIFO: asked again with it, the same is handed out again
};
/// The receiver is gone. If nothing was handed out to it yet, nothing will be.
struct StopReceiving {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
};

/// They are done: gone from the queue. An older receipt, or one of a message that is gone, changes
/// nothing and is no error. Of a FIFO queue, not after its time: invalid_argument.
struct DeleteReceived {
  TenantId tenant{};
  std::string queue{};
  std::vector<Receipt> receipts{};
};
/// Hidden for so long from now on; 0: given back at once. invalid_argument: an older receipt, a
/// message that is gone, more than 12 hours since the receive. conflict: it was cancelled.
struct ChangeVisibility {
  struct One {
    Receipt receipt{};
    Millis visibility{};
  };
  TenantId tenant{};
  std::string queue{};
  std::vector<One> items{};
};
/// How many of its messages wait, are with receivers, and are not due yet.
struct CountQueue {
  TenantId tenant{};
  std::string name{};
};
/// Moves what is visible in `source`, oldest first, into `destination`; "": each back into the
/// queue that it came from. What is moved is new there. not_found: no such queue; conflict: a task
/// of that source is running.
struct StartMoveTask {
  TenantId tenant{};
  std::string source{};
  std::string destination{};
  std::uint32_t rate = 0;  ///< messages a second, spread evenly; 0 = as fast as it goes
};
/// What was moved stays moved. not_found: no such task is running.
struct CancelMoveTask {
  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;
};
struct ListMoveTasks {
  TenantId tenant{};
  std::string source{};
};
/// The messages at which groups of the queue have stopped (PullSettings::halt), oldest first.
struct ListHalted {
  TenantId tenant{};
  std::string queue{};
  std::size_t limit = 100;
};
/// What shall become of the message at which a group has stopped. not_found: it has not.
/// invalid_argument: a body that the queue does not take, or one for a message that is skipped.
struct ResolveHalted {
  enum class Action : std::uint8_t {
    retry,  ///< its receives so far do not count: it goes out again
    skip,   ///< it has failed: into the dead-letter queue if there is one, else cancelled
  };
  TenantId tenant{};
  std::string queue{};
  std::string group{};
  Action action{};
  std::optional<std::string> body{};  ///< of a retry: in place of the one that it has
};
/// They never reached their receiver: visible again, and the receive does not count. Unless another
/// one has them by now, who asked again under the same attempt id and got the same receipts.
struct GiveBack {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
  std::vector<Receipt> receipts{};
};

/// Creates or replaces. conflict: the stored version is not `if_version` (0: there is none).
struct PutDocumentCommand {
  Document document{};
  std::optional<std::uint64_t> if_version{};
};
/// Done, also if there is none.
struct DeleteDocumentCommand {
  TenantId tenant{};
  std::string kind{};
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

/// Creates (id 0: the core chooses one) or replaces a tenant.
struct UpsertTenant {
  Tenant tenant{};
};

/// What is known of a message only in memory: its lease and the gates that hold it.
struct Inspect {
  TenantId tenant{};
  MessageId id{};
};

using Command = std::variant<
    Publish, PublishBatch, CompleteAttempt, CancelMessage, RetryDeadLetter, DeleteDeadLetterCommand,
    UpsertQueue, DeleteQueueCommand, CreatePullQueue, SetPullSettings, PurgeQueue, Receive,
    StopReceiving, DeleteReceived, ChangeVisibility, GiveBack, CountQueue, StartMoveTask,
    CancelMoveTask, ListMoveTasks, ListHalted, ResolveHalted, PutDocumentCommand,
    DeleteDocumentCommand, UpsertEndpoints, RemoveEndpoints, SetGroupOptions, DeleteUrlGroupCommand,
    UpsertSchedule, DeleteScheduleCommand, SetSchedulePaused, SetFlowKeyPaused, PinFlowKey,
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
struct QueueMade {
  bool existed = false;
  Queue queue{};  ///< as it is now
};
struct QueueCounted {
  std::uint64_t visible = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t delayed = 0;
  /// When the oldest of those that are in memory was sent, and no group's first one is not; 0:
  /// there is none.
  Moment oldest{};
};
struct MoveTaskStarted {
  std::uint64_t number = 0;  ///< of the task, among those of its source
};
struct MoveTaskCanceled {
  std::uint64_t moved = 0;
};
/// Newest first: the running one, and the last ones that ended.
struct MoveTasksListed {
  std::vector<MoveTask> tasks{};
};
/// In the order of the items.
struct Settled {
  std::vector<Result<void>> items{};
};
struct HaltedListed {
  struct One {
    std::string group{};
    MessageId id{};
    std::uint32_t receives = 0;  ///< in all queues that it was in
  };
  std::vector<One> messages{};
};
struct FlowKeyView {
  FlowKey flow{};
  std::uint64_t waiting = 0;  ///< due, but held by this key
  std::uint32_t running = 0;
};
struct FlowKeysInspected {
  std::vector<FlowKeyView> keys{};
  std::string next{};  ///< there may be more after this one; "" = there is none
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
                       ///< "order", "in_flight", "halted", "waits_for_receiver", …
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

using Reply =
    Result<std::variant<Done, Published, FannedOut, BatchPublished, Canceled, ScheduleStored,
                        FlowKeysInspected, TenantStored, Inspected, QueueMade, QueueCounted,
                        Settled, MoveTaskStarted, MoveTaskCanceled, MoveTasksListed, HaltedListed>>;

}  // namespace hk::core
