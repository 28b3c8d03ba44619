/// What is carried. Written once (ResolveHalted may write one again). What changes about it is its
/// MessageState (record.h). Plain data: made by adapters, stored by store/, read by everybody.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace hk::core {

using TenantId = Id<struct TenantTag, std::uint32_t>;

/// A machine with its store; each tenant is in one of them. 0: a data directory that stands alone.
using PartitionId = Id<struct PartitionTag, std::uint16_t>;

/// Who numbers messages: the partition that accepted them. 0: every data directory that stands
/// alone. A copy of a partition goes on under another one, so that no two messages have one number.
using Origin = Id<struct OriginTag, std::uint16_t>;

/// The place of a message in the order of acceptance of its origin; 0 is nobody. The upper 16 bits
/// are the origin, the others count.
using Seq = Id<struct SeqTag, std::uint64_t>;

inline constexpr unsigned counter_bits = 48;
inline constexpr std::uint64_t counter_max = (std::uint64_t{1} << counter_bits) - 1;
constexpr Seq make_seq(Origin origin, std::uint64_t counter) {
  return Seq{(std::uint64_t{origin.value()} << counter_bits) | counter};
}
constexpr Origin origin_of(Seq seq) {
  return Origin{static_cast<std::uint16_t>(seq.value() >> counter_bits)};
}
constexpr std::uint64_t counter_of(Seq seq) { return seq.value() & counter_max; }

/// What a client knows a message by: its place, and random bits so that ids cannot be guessed.
/// As text: "msg_" and 22 characters, ordered by time. The adapter's text form is reversible, so
/// that no index from id to message has to be written.
struct MessageId {
  Seq seq{};
  std::uint64_t nonce = 0;
  friend bool operator==(const MessageId&, const MessageId&) = default;
};
std::string to_text(MessageId id);
std::optional<MessageId> parse_message_id(std::string_view text);
/// As SQS and SNS know one: a UUID, and its seq as 20 digits.
std::string uuid_text(MessageId id);
std::string sequence_text(MessageId id);

struct Header {
  std::string name{};
  std::string value{};
  friend bool operator==(const Header&, const Header&) = default;
};

/// W3C trace context: the trace that the message belongs to and the span that published it.
struct Trace {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> parent_span{};
  std::uint8_t flags = 1;
  std::string state{};  ///< `tracestate`, passed on untouched
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Before retry n (1, 2, …): min(cap, first · factor^(n-1)), plus up to jitter_percent of it at
/// random.
struct ExponentialDelay {
  Millis first{12'183};  // QStash: e^(2.5·n) seconds, never shorter
  double factor = 12.182493960703473;
  Millis cap{86'400'000};
  std::uint32_t jitter_percent = 0;
  friend bool operator==(const ExponentialDelay&, const ExponentialDelay&) = default;
};
/// Before retry n: the n-th entry; the last one repeats.
struct TableDelay {
  std::vector<Millis> delays{};
  friend bool operator==(const TableDelay&, const TableDelay&) = default;
};
/// An expression over `retried` giving milliseconds (retry/expression.h); checked when accepted.
struct ExpressionDelay {
  std::string text{};
  friend bool operator==(const ExpressionDelay&, const ExpressionDelay&) = default;
};
using RetryDelay = std::variant<ExponentialDelay, TableDelay, ExpressionDelay>;

struct RetryPolicy {
  std::uint32_t retries_max = 3;  ///< after the first attempt
  RetryDelay delay{};
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

/// Where to tell how an attempt ended: a message of its own, with its own id, retries and end.
struct Callback {
  std::string url{};
  std::string host{};  ///< of url, as in Message
  std::string method{"POST"};
  std::vector<Header> headers{};
  RetryPolicy retry{};
  Millis timeout{};
  Millis delay{};
  friend bool operator==(const Callback&, const Callback&) = default;
};

/// A value with a type, for whoever pulls the message: "String", "Number.int", "Binary".
struct Attribute {
  std::string name{};
  std::string type{};
  std::string value{};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// What a message that is pulled has beside what every message has.
struct PullPart {
  bool fifo = false;                    ///< in order within its group
  std::vector<Attribute> attributes{};  ///< the sender's
  std::vector<Header> system{};  ///< what adapters note: trace header, sender, dedup id as given
  /// One that was moved from another queue: the id it had there, for its receivers; seq 0 = its
  /// own.
  MessageId first_id{};
  std::string moved_from{};           ///< the queue that gave it up; "" = none
  std::uint32_t receives_before = 0;  ///< in the queues before
  Moment first_received_at{};         ///< in the queues before; 0 = not yet
  Moment sent_at{};                   ///< when it was first accepted; retention counts from here
  friend bool operator==(const PullPart&, const PullPart&) = default;
};

/// What makes a message the delivery of a webhook: it has no URL, headers or body of its own. Those
/// are its event's and its endpoint's, as they are when an attempt begins (webhook/record.h).
struct WebhookPart {
  std::uint64_t application = 0;
  std::uint64_t endpoint = 0;
  std::uint64_t event = 0;
  std::uint32_t generation = 0;  ///< 0: from the publish; one more for each that was made again
  bool manual = false;           ///< one attempt by hand: it is not tried again
  MessageId settles{};           ///< manual: the delivery that its success settles; seq 0 = none
  std::uint64_t replay = 0;      ///< the number of the task that made it; 0 = none
  std::uint64_t bytes = 0;       ///< of the payload
  friend bool operator==(const WebhookPart&, const WebhookPart&) = default;
};

struct Message {
  // Set by the core when it accepts.
  MessageId id{};
  Moment created_at{};

  // Set by the adapter.
  TenantId tenant{};
  std::string queue{};     ///< "" = none
  std::string group{};     ///< order within (queue, group); "" = the queue's own order
  std::string flow_key{};  ///< "" = none
  std::string method{"POST"};
  std::string url{};  ///< as published, byte for byte; "" = waits to be pulled
  std::string
      host{};  ///< scheme://host:port of url in lower case: which destination gate it passes
  std::vector<Header> headers{};  ///< delivered on the sender's behalf, Content-Type included
  std::string body{};
  RetryPolicy retry{};
  Millis timeout{};     ///< of one attempt
  Moment not_before{};  ///< first due time; the core raises it to created_at
  std::vector<std::string> labels{};
  std::string caller_ip{};
  std::string dedup_id{};  ///< as given or computed, the core adds the url; "" = none
  Trace trace{};
  MessageId replay_of{};              ///< the dead letter that this is a retry of; seq 0 = none
  std::vector<std::string> redact{};  ///< "body", "header", "header:<lower-case name>"
  /// The URL group it is for. Published with an empty url it becomes one message per endpoint;
  /// those keep the name.
  std::string topic{};
  std::string endpoint{};                      ///< the endpoint's name in that group; "" = none
  std::string schedule{};                      ///< the id of the schedule that made it; "" = none
  std::optional<Callback> callback{};          ///< after every attempt
  std::optional<Callback> failure_callback{};  ///< once, when it has failed for good
  MessageId callback_of{};  ///< the message whose attempt this tells of; seq 0 = none
  /// It waits in its queue until somebody asks for it; url is empty then. nullopt: it is pushed.
  std::optional<PullPart> pull{};
  std::optional<WebhookPart> webhook{};  ///< nullopt: it is no delivery of a webhook
  bool edited = false;        ///< a retry whose receiver gets something else than what failed
  bool notification = false;  ///< a topic of SNS sends it to a subscriber's URL

  friend bool operator==(const Message&, const Message&) = default;
};

/// Published, enqueued with a destination or scheduled, and what tells of such a message. What
/// waits to be pulled belongs to its queue, whoever sent it, a notification to its topic, and the
/// delivery of a webhook to its endpoint.
bool made_by_qstash(const Message& message);

}  // namespace hk::core
