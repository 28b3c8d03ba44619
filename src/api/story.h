/// A message with everything that is stored about it, read from one durable view, and the events
/// that it went through. Both ways to the event log (scanning it, asking for a message) tell an
/// event from this. For reads on I/O threads; throws what the reader throws.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/reader.h"

namespace hk::api {

struct Story {
  std::shared_ptr<const core::Message> message{};  ///< shared with the reader's cache
  core::MessageState state{};                      ///< as accepted, if none is stored
  std::vector<core::Attempt> attempts{};           ///< finished ones, oldest first

  struct Running {
    std::uint32_t attempt = 0;
    Moment started_at{};
  };
  /// Leases are known in memory only: whoever wants it asks the core (core::Inspect) and sets it.
  std::optional<Running> running{};

  /// The finished attempt of that number, or null.
  [[nodiscard]] const core::Attempt* attempt(std::uint32_t number) const;
  /// When the next attempt was or is planned, as told with CREATED (attempt 0) and RETRY events.
  [[nodiscard]] Moment next_delivery(std::uint32_t after_attempt) const;
  /// What the API shows as notBefore: the first due time, later that of the next attempt.
  [[nodiscard]] Moment not_before() const;
};

/// Null message: no such message. Attempts are read only if asked for.
Story read_story(core::Reader& reader, core::Seq seq, bool with_attempts);

/// The message a client names, if it is this tenant's: ids of others look like ids of nobody.
std::optional<Story> find_story(core::Reader& reader, core::TenantId tenant,
                                std::string_view id_text, bool with_attempts);

struct HistoryEntry {
  core::EventKind kind{};
  std::uint32_t attempt = 0;
  Moment time{};
  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};
/// Every event of the message in order; times never decrease. REQUIRES: attempts were read.
std::vector<HistoryEntry> history(const Story& story);

/// "<failed_at ms>-<seq>", or nullopt for a text that is not of that form.
std::optional<core::DeadLetterKey> parse_dead_letter_id(core::TenantId tenant,
                                                        std::string_view text);
std::string dead_letter_id(const core::DeadLetterKey& key);
/// Where a failed message stands in the dead-letter queue. REQUIRES: story.state.in_dlq.
core::DeadLetterKey dead_letter_key(const Story& story);

}  // namespace hk::api
