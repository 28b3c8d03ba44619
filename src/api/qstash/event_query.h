/// What a call of /v2/events asks for, and the page that answers it from the log. For reads on I/O
/// threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/options.h"
#include "api/qstash/event_view.h"
#include "api/qstash/filter.h"

namespace hk::api::qstash {

inline constexpr std::size_t event_message_ids_max = 100;

struct EventQuery {
  core::TenantId tenant{};
  std::vector<std::string> message_ids{};
  std::optional<StateFilter> state{};
  core::MessageFilter filter{};
  Paging paging{};

  [[nodiscard]] bool wants(core::EventKind kind) const { return !state || state->matches(kind); }
};

/// invalid_argument: an unknown parameter or a bad value.
Result<EventQuery> read_event_query(core::TenantId tenant, const Parameters& parameters);

/// "events" of one page, written as they are found, and where the next page begins.
struct EventPage {
  std::string events{};  ///< a JSON array
  std::size_t count = 0;
  std::optional<std::string> cursor{};
};

/// Scans the log: at most Options::scanned_per_listing_max events are looked at, and no more once
/// listing_bytes_max of their messages have been read.
/// invalid_argument: the cursor is neither ours nor a time.
Result<EventPage> scan_events(core::Reader& reader, EventQuery query, const Options& options);

/// From the records of the named messages; stories of others are not given here.
Result<EventPage> tell_events(core::Reader& reader, const EventQuery& query,
                              const std::vector<Story>& stories, const Options& options);

}  // namespace hk::api::qstash
