/// Commands about messages, and their replies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/pull/receipt.h"
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
  PartitionId partition{};  ///< of its StartAttempt
  MessageId id{};
  Fence fence{};
  Attempt attempt{};
  bool delivered = false;
  bool give_up = false;                 ///< the receiver said that no retry can help
  std::optional<Millis> retry_after{};  ///< the receiver's own wish; replaces the policy's delay
  // Said of webhooks alone so far:
  bool timed_out = false;  ///< the receiver did not answer in time
  /// Nothing was sent, and the receiver is not to blame: no file descriptor, no signing key. It is
  /// no attempt; attempt.error says why.
  bool not_made = false;
};

/// The lease of a push, as its delivery had it with it.
struct PushLease {
  PartitionId partition{};
  Fence fence{};
  friend bool operator==(const PushLease&, const PushLease&) = default;
};

/// The holder of a lease says how its work has ended, in its own call and not by its answer: the
/// attempt ends as if that had been reported. not_found: no such message. conflict: its queue stops
/// its groups at what has failed for good, by counting receives; nobody can say so at once.
struct EndJob {
  TenantId tenant{};
  MessageId id{};
  std::variant<PushLease, Receipt> lease{};
  bool succeeded = false;
  std::string content_type{};  ///< succeeded: of the result; "" = there is none
  std::string result{};
  std::string error{};                  ///< failed: what went wrong
  bool give_up = false;                 ///< failed: no retry can help
  std::optional<Millis> retry_after{};  ///< failed: replaces the policy's delay
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

/// What is known of a message only in memory: its lease and the gates that hold it.
struct Inspect {
  TenantId tenant{};
  MessageId id{};
};

using MessageCommand = std::variant<Publish, PublishBatch, CompleteAttempt, EndJob, CancelMessage,
                                    RetryDeadLetter, DeleteDeadLetterCommand, Inspect>;

// ---- replies ----

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

/// The reply to a Publish, by where it goes.
using Sent = std::variant<Published, FannedOut>;

/// In the order of the items.
struct BatchPublished {
  std::vector<Result<Sent>> items{};
};

/// The reply to an EndJob.
struct JobEnded {
  enum class Outcome : std::uint8_t {
    done,
    again,       ///< it was ended so already, under this lease
    lease_lost,  ///< the lease is not the one that counts now: nothing changed
    finished,    ///< it has ended otherwise: nothing changed
  };
  Outcome outcome{};
  Status status{};  ///< as it is now; running: somebody has it
};

struct Canceled {
  bool running = false;  ///< an attempt is on the wire and may still land
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

using MessageReply =
    std::variant<Published, FannedOut, BatchPublished, JobEnded, Canceled, Inspected>;

}  // namespace hk::core
