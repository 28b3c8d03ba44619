/// What is stored of messages: state, attempts, events, when to look again, counts. Numbers of
/// enums are on disk: never change or reuse one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/message.h"

namespace hk::core {

inline Seq key_of(const Message& message) { return message.id.seq; }

enum class Status : std::uint8_t {
  pending = 1,
  running = 2,
  succeeded = 3,
  failed = 4,  ///< in the dead-letter queue, or removed from it and waiting for its retention
  canceled = 5,
};
constexpr bool is_final(Status status) {
  return status == Status::succeeded || status == Status::failed || status == Status::canceled;
}

/// Why a delivery of a webhook was cancelled.
enum class CancelReason : std::uint8_t {
  none = 0,  ///< it was not, or is no such delivery
  canceled = 1,
  application_deleted = 2,
  endpoint_deleted = 3,
  payload_expunged = 4,
  hold_expired = 5,
  hold_overflow = 6,
  skipped = 7,  ///< its endpoint went on without what was held
};

/// (epoch, attempt) only grows for a message: a receiver can refuse the lower one.
struct Fence {
  std::uint32_t epoch = 0;    ///< of the partition: one more at each start
  std::uint32_t attempt = 0;  ///< 1, 2, …
  friend auto operator<=>(const Fence&, const Fence&) = default;
};
/// "<partition>.<epoch>.<attempt>": only grows for a message.
std::string fence_text(PartitionId partition, const Fence& fence);

/// One request on the wire and how it ended.
struct Attempt {
  Fence fence{};
  Moment started_at{};
  Moment ended_at{};
  int response_status = 0;  ///< 0: no answer came
  std::string error{};      ///< "" = none; else why it counts as failed
  std::vector<Header> response_headers{};
  std::string response_body{};  ///< the first bytes, bounded by Limits::response_bytes_kept
  std::array<std::uint8_t, 8> span_id{};
  /// Its holder has said how it ended (EndJob): the body is the result, whole.
  bool told = false;
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// The small record that changes. A message without one is as it was accepted: pending, no
/// attempts, due at not_before.
struct MessageState {
  Status status = Status::pending;
  std::uint32_t attempts = 0;  ///< finished ones
  Moment due{};                ///< of the next attempt, while not final
  bool cancel_requested = false;
  Moment cancel_requested_at{};
  Moment finished_at{};      ///< when it became final
  Moment expires_at{never};  ///< when a final message may be purged
  bool in_dlq = false;
  /// Ordered lanes only: callbacks of it that are not final yet. It holds its slot until none is.
  std::uint32_t callbacks_open = 0;
  std::optional<Attempt> last{};  ///< earlier ones are in the attempts table, under (seq, number)
  CancelReason cancel_reason{};
  friend bool operator==(const MessageState&, const MessageState&) = default;
};

struct Dedup {
  MessageId first{};
  Moment expires_at{};
  friend bool operator==(const Dedup&, const Dedup&) = default;
};

/// A dead letter's public id is "<failed_at ms>-<seq>"; this is its place in the tenant's list.
struct DeadLetterKey {
  TenantId tenant{};
  Moment failed_at{};
  Seq seq{};
  friend auto operator<=>(const DeadLetterKey&, const DeadLetterKey&) = default;
};
inline std::tuple<TenantId, Moment, Seq> key_of(const DeadLetterKey& letter) {
  return {letter.tenant, letter.failed_at, letter.seq};
}

enum class EventKind : std::uint8_t {
  created = 1,
  active = 2,
  error = 3,
  retry = 4,
  delivered = 5,
  failed = 6,
  cancel_requested = 7,
  canceled = 8,
};

/// The log holds references: everything else about an event is in the message, its state and its
/// attempts, so that writing it costs next to nothing.
struct EventRef {
  Seq seq{};
  EventKind kind{};
  std::uint32_t attempt = 0;
  friend bool operator==(const EventRef&, const EventRef&) = default;
};
/// The events of one tenant in one batch, in order; they share the batch's time.
struct Events {
  TenantId tenant{};
  Moment time{};
  std::uint64_t batch = 0;  ///< grows with every batch, also across restarts
  std::vector<EventRef> events{};
  friend bool operator==(const Events&, const Events&) = default;
};
inline std::tuple<TenantId, Moment, std::uint64_t> key_of(const Events& events) {
  return {events.tenant, events.time, events.batch};
}

/// Things to look at again at a time: one record per batch and time, not one per message.
struct Expiry {
  Moment at{};
  std::uint64_t batch = 0;
  std::vector<Seq> messages{};
  std::vector<std::pair<TenantId, std::string>> dedups{};
  std::vector<std::pair<TenantId, std::string>> keys{};  ///< of idempotency: namespace, NUL, key
  /// Of webhooks: application and number.
  std::vector<std::tuple<TenantId, std::uint64_t, std::uint64_t>> events{};
  friend bool operator==(const Expiry&, const Expiry&) = default;
};
inline std::tuple<Moment, std::uint64_t> key_of(const Expiry& expiry) {
  return {expiry.at, expiry.batch};
}

/// Conservation: accepted = pending + succeeded + failed + canceled at every commit, where failed
/// counts every message that ever failed. `expired` counts those purged by retention (a subset).
struct Counters {
  std::uint64_t accepted = 0;
  std::uint64_t deduplicated = 0;
  std::uint64_t pending = 0;  ///< waiting or running
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t canceled = 0;
  std::uint64_t dead_letters = 0;  ///< in the DLQ now
  std::uint64_t attempts = 0;
  std::uint64_t purged = 0;
  friend bool operator==(const Counters&, const Counters&) = default;
  [[nodiscard]] bool conserved() const {
    return accepted == pending + succeeded + failed + canceled;
  }
};

}  // namespace hk::core
