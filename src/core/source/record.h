/// Inbound sources as they are stored: who sends webhooks to this server, what was accepted from
/// them, and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/document/record.h"
#include "core/message.h"

namespace hk::core {

/// What a sender signs with. Opaque here: the adapter has sealed it.
struct SourceSecret {
  std::string id{};
  std::string sealed{};
  std::string hint{};  ///< its last characters, for people
  Moment created_at{};
  Moment expires_at{never};
  friend bool operator==(const SourceSecret&, const SourceSecret&) = default;
};

struct SourceStats {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t invalid = 0;      ///< requests that failed verification
  std::uint64_t quarantined = 0;  ///< of those, the ones that were kept
  std::uint64_t dropped = 0;      ///< of those, the ones that made room for others
  Moment last_accepted_at{};
  friend bool operator==(const SourceStats&, const SourceStats&) = default;
};

/// Rejected requests of one source: numbered, the oldest go first.
struct QuarantineState {
  std::uint64_t next = 1;   ///< number of the next one
  std::uint64_t first = 1;  ///< none has a lower number
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const QuarantineState&, const QuarantineState&) = default;
};

struct Source {
  TenantId tenant{};
  std::string id{};
  std::string name{};  ///< no other source of the partition has it
  bool enabled = true;
  std::vector<SourceSecret> secrets{};  ///< newest first
  Millis dedup_window{};                ///< 0: repeats are not looked for; dedup_for_ever
  /// The adapter's: how requests are verified, what becomes of them. The core reads nothing of it.
  std::string settings{};
  std::uint64_t version = 0;  ///< one more at each change of what is above
  Moment created_at{};
  Moment updated_at{};
  SourceStats stats{};
  QuarantineState quarantine{};
  Moment upkeep_at{};  ///< the one timer that counts; 0: there is nothing to clean up
  friend bool operator==(const Source&, const Source&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Source& source) {
  return {source.tenant, source.id};
}
inline constexpr Millis dedup_for_ever{-1};

/// Finds a source by its name, and by its id. With the version that it has, so that whoever keeps
/// what he has made of a source knows when to read it again.
struct SourceName {
  std::string name{};
  TenantId tenant{};
  std::string id{};
  std::uint64_t version = 0;
  friend bool operator==(const SourceName&, const SourceName&) = default;
};
inline const std::string& key_of(const SourceName& name) { return name.name; }

/// An event that was accepted.
struct SourceEvent {
  TenantId tenant{};
  std::string source{};
  MessageId message{};  ///< the first, if it became several
  std::string event_id{};
  std::string event_type{};
  Moment received_at{};
  std::uint64_t bytes = 0;  ///< of the body, as it came
  std::uint64_t duplicates = 0;
  bool unverified = false;  ///< somebody released it by hand
  friend bool operator==(const SourceEvent&, const SourceEvent&) = default;
};
inline std::tuple<const TenantId&, Folder, const Seq&> key_of(const SourceEvent& event) {
  return {event.tenant, event.source, event.message.seq};
}

/// A request that was rejected.
struct Quarantined {
  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;
  std::uint64_t nonce = 0;  ///< of its id
  Moment received_at{};
  std::string method{};
  std::string target{};  ///< path and query, as they came
  std::vector<Header> headers{};
  std::string body{};
  std::string remote{};  ///< the sender's address
  // Why, in the adapter's words.
  std::string code{};
  std::string message{};
  std::string details{};  ///< JSON

  /// What counts against the room of its source.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = target.size() + body.size() + details.size();
    for (const Header& one : headers) {
      sum += one.name.size() + one.value.size();
    }
    return sum;
  }
  friend bool operator==(const Quarantined&, const Quarantined&) = default;
};
inline std::tuple<const TenantId&, Folder, const std::uint64_t&> key_of(const Quarantined& one) {
  return {one.tenant, one.source, one.number};
}

/// What is known of an event is stored under, for the time of deduplication. It names no message's
/// own dedup id.
inline constexpr std::string_view source_dedup_prefix = "source ";
inline std::string source_dedup_id(const std::string& source, const std::string& event_id) {
  return std::string(source_dedup_prefix) + source + ' ' + event_id;
}

}  // namespace hk::core
