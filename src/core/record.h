/// What is stored beside messages. Numbers of enums are on disk: never change or reuse one. A
/// struct with a key_of() is a kind of record that holds its key; all kinds are rows of tables.def.
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

/// A text in the middle of a key that is a path: "/" stands behind it. REQUIRES: it has none.
struct Folder {
  std::string name{};
  Folder() = default;
  Folder(std::string folder) : name(std::move(folder)) {}  // NOLINT: {tenant, kind, name} is a key
  Folder(const char* folder) : name(folder) {}             // NOLINT: as above
  friend auto operator<=>(const Folder&, const Folder&) = default;
};

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

/// (epoch, attempt) only grows for a message: a receiver can refuse the lower one.
struct Fence {
  std::uint32_t epoch = 0;    ///< of the partition: one more at each start
  std::uint32_t attempt = 0;  ///< 1, 2, …
  friend auto operator<=>(const Fence&, const Fence&) = default;
};

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
  friend bool operator==(const MessageState&, const MessageState&) = default;
};

/// Lanes are what messages wait in. Messages with a queue keep the order of acceptance within
/// (queue, group), whatever their host and flow key: those parts of the key are empty, but for a
/// flow key of `pulled` in queues that are pulled from. All others wait by due time, in a lane per
/// flow key and host, so that a host that hangs holds up nobody else; those of a queue that is
/// pulled from without order in a lane per group, whose host is `pulled`.
struct LaneKey {
  TenantId tenant{};
  std::string queue{};
  std::string group{};
  std::string flow_key{};
  std::string host{};
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
  [[nodiscard]] bool ordered() const { return !queue.empty() && host.empty(); }
  static constexpr const char* pulled = "*";  ///< in place of a host or flow key
  [[nodiscard]] bool is_pulled() const {
    return !queue.empty() && (host == pulled || flow_key == pulled);
  }
};
LaneKey lane_of(const Message& message);

/// Where a message stands in its lane: due time first (always 0 in an ordered lane), then
/// acceptance.
struct LanePlace {
  Moment due{};
  Seq seq{};
  friend auto operator<=>(const LanePlace&, const LanePlace&) = default;
};
/// The index entry at a LanePlace: what a lane must know of a message without reading it.
struct LaneEntry {
  LanePlace place{};
  Moment not_before{};
  std::uint32_t attempts = 0;
  std::string flow_key{};  ///< ordered lanes only: others have it in their key
  std::string host{};      ///< ordered lanes only, as flow_key
  bool started = false;    ///< ordered lanes only: it holds one of the lane's slots
  bool cancel_requested = false;
  bool finished = false;       ///< ordered lanes only: final, but its callbacks are not all
  Moment first_received_at{};  ///< pulled ones: when somebody first got it; 0 = nobody did
  std::uint32_t forgiven = 0;  ///< pulled ones: receives, in this queue, that do not count any more
  friend bool operator==(const LaneEntry&, const LaneEntry&) = default;
};
/// The entry with the lane that it stands in, as it is stored.
struct LaneRow {
  LaneKey lane{};
  LaneEntry entry{};
  friend bool operator==(const LaneRow&, const LaneRow&) = default;
};
inline std::tuple<const LaneKey&, const LanePlace&> key_of(const LaneRow& row) {
  return {row.lane, row.entry.place};
}

/// Who waits for messages. Chosen by the adapter, unique in the process.
using ReceiverId = Id<struct ReceiverTag, std::uint64_t>;

/// What a receiver has been given: a message and the how-many-eth receive of it.
struct Receipt {
  MessageId id{};
  std::uint32_t receive = 0;
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
  friend bool operator==(const Expiry&, const Expiry&) = default;
};
inline std::tuple<Moment, std::uint64_t> key_of(const Expiry& expiry) {
  return {expiry.at, expiry.batch};
}

/// What makes a queue one that is pulled from. `extra` and `tags` are the adapter's: the core keeps
/// them and reads nothing of them.
struct PullSettings {
  bool fifo = false;
  Millis visibility{30'000};  ///< of a receive that does not say
  Millis delay{};             ///< of a message that does not say
  Millis wait{};              ///< of a receive that does not say
  Millis retention{4LL * 86'400'000};
  std::uint32_t bytes_max = 1'048'576;
  bool content_dedup = false;
  bool dedup_by_group = false;
  std::string dead_letters_to{};   ///< queue; "" = none
  std::uint32_t receives_max = 0;  ///< after as many it has failed, and goes there; 0 = never
  /// A group stops at a message that has failed, instead of losing it. Without a maximum of its
  /// own the queue has Limits::halt_after.
  bool halt = false;
  std::vector<Header> extra{};
  std::vector<Header> tags{};
  Moment purged_at{};
  std::uint32_t purges = 0;   ///< part of every dedup id: a purge forgets them
  std::uint64_t version = 0;  ///< one more at each change
  friend bool operator==(const PullSettings&, const PullSettings&) = default;
};

struct Queue {
  TenantId tenant{};
  std::string name{};
  std::uint32_t parallelism = 1;
  bool paused = false;
  Moment created_at{};
  Moment updated_at{};
  std::uint64_t lag = 0;  ///< messages of it that are not final
  /// Its messages up to this one are being cancelled, a few per batch, because it was deleted.
  Seq sweep_up_to{};
  std::uint64_t doomed = 0;            ///< of `lag`, if pulled from: what a sweep cancels
  bool deleted = false;                ///< not shown any more; gone when the sweep is done
  std::optional<PullSettings> pull{};  ///< nullopt: its messages are pushed
  friend bool operator==(const Queue&, const Queue&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Queue& queue) {
  return {queue.tenant, queue.name};
}

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

struct Endpoint {
  std::string name{};  ///< "" = none; unique in its group otherwise
  std::string url{};
  std::string host{};  ///< of url, as in Message
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
/// A name for several destinations. Publishing to it makes one message per endpoint.
struct UrlGroup {
  TenantId tenant{};
  std::string name{};
  std::vector<Endpoint> endpoints{};  ///< in the order in which they were added
  std::vector<Header> options{};      ///< option headers that a publish to it has by default
  Moment created_at{};
  Moment updated_at{};
  friend bool operator==(const UrlGroup&, const UrlGroup&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const UrlGroup& group) {
  return {group.tenant, group.name};
}

/// What a schedule publishes and when. Replaced as a whole; what changes at each run is its
/// ScheduleState.
struct Schedule {
  TenantId tenant{};
  std::string id{};
  std::string cron{};             ///< as given, with its CRON_TZ= prefix
  Message prototype{};            ///< id, created_at and not_before are set at each run
  Millis delay{};                 ///< of each message, from its run
  std::optional<FlowKey> flow{};  ///< settings of its flow key, as in Publish
  Moment created_at{};
  friend bool operator==(const Schedule&, const Schedule&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Schedule& schedule) {
  return {schedule.tenant, schedule.id};
}
struct ScheduleState {
  bool paused = false;
  Moment next_at{never};                   ///< the next run; never: the cron text has no later one
  Moment last_at{};                        ///< 0: has not run yet
  std::vector<MessageId> last_messages{};  ///< of the last run, at most a few
  std::string error{};                     ///< why the last run made no message; "" = it did
  friend bool operator==(const ScheduleState&, const ScheduleState&) = default;
};
/// A schedule's place in the order of runs.
struct ScheduleDue {
  Moment at{};
  TenantId tenant{};
  std::string id{};
  friend auto operator<=>(const ScheduleDue&, const ScheduleDue&) = default;
};
inline std::tuple<const Moment&, const TenantId&, const std::string&> key_of(
    const ScheduleDue& due) {
  return {due.at, due.tenant, due.id};
}

/// What an adapter keeps, by kind and name; the core stores it and reads nothing of it.
struct Document {
  TenantId tenant{};
  std::string kind{};
  std::string name{};
  std::vector<Header> fields{};
  std::uint64_t version = 1;
  Moment created_at{};
  friend bool operator==(const Document&, const Document&) = default;
};
inline std::tuple<const TenantId&, Folder, const std::string&> key_of(const Document& document) {
  return {document.tenant, document.kind, document.name};
}

/// Messages on their way from one queue that is pulled from into another or, without a destination,
/// each back to where it came from. Numbers of statuses are on disk.
struct MoveTask {
  enum class Status : std::uint8_t { running = 1, completed = 2, canceled = 3, failed = 4 };
  /// Why it failed; "" = it did not.
  static constexpr const char* destination_gone = "destination_gone";
  static constexpr const char* came_from_nowhere = "came_from_nowhere";  ///< without a destination

  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;  ///< 1, 2, … for each source
  std::string destination{};
  std::uint32_t rate = 0;  ///< messages a second; 0 = no limit
  Status status = Status::running;
  std::uint64_t moved = 0;
  std::uint64_t to_move = 0;  ///< visible when it started
  Moment started_at{};
  Moment ended_at{};
  Seq up_to{};  ///< what came later stays
  std::string reason{};
  friend bool operator==(const MoveTask&, const MoveTask&) = default;
};

/// A key that signs requests of a tenant.
struct AccessKey {
  std::string id{};
  std::string sealed_secret{};
  Moment created_at{};
  friend bool operator==(const AccessKey&, const AccessKey&) = default;
};

/// Credentials are opaque here: digests and sealed keys that security/ made.
struct Tenant {
  TenantId id{};
  std::string name{};
  std::vector<std::string> token_digests{};
  std::string sealed_current_key{};
  std::string sealed_next_key{};
  Moment created_at{};
  std::vector<AccessKey> access_keys{};
  /// Made by a server for development: its token and keys are known to nobody, and a server for
  /// production refuses the directory until it has real ones.
  bool development = false;
  friend bool operator==(const Tenant&, const Tenant&) = default;
};
inline TenantId key_of(const Tenant& tenant) { return tenant.id; }

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

struct Meta {
  std::uint32_t format = 1;
  std::uint32_t epoch = 0;
  /// Every unfinished message with seq <= indexed_up_to has an index entry in its lane.
  Seq indexed_up_to{};
  Moment time{};    ///< partition time never runs backwards, not across restarts either
  Origin origin{};  ///< of the messages that it accepts; those of lower ones came with a copy
  friend bool operator==(const Meta&, const Meta&) = default;
};
inline std::tuple<> key_of(const Meta& /*the only one*/) { return {}; }

}  // namespace hk::core
