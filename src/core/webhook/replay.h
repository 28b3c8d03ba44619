/// Which deliveries of an application are made again, and whom an event matches. Adapters ask the
/// same functions for a dry run. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/message/record.h"
#include "core/webhook/record.h"

namespace hk::core {
class Reader;
}

namespace hk::core::webhook {

/// Would the endpoint get an event of that type, with those channels? Whether it is disabled is
/// another question.
bool matches(const Endpoint& endpoint, std::string_view event_type,
             const std::vector<std::string>& channels);

/// A delivery as its users see it. Numbers are bits on disk.
enum class Shown : std::uint8_t {
  succeeded = 0,
  pending = 1,  ///< no attempt has ended yet
  failed = 2,
  sending = 3,  ///< an attempt has failed, and another one will follow
  canceled = 4,
};
Shown shown(const MessageState& state);

/// Several values of one field are OR-ed, different fields AND-ed, none means all.
struct ReplayFilter {
  std::vector<std::string> event_types{};
  std::vector<std::string> channels{};
  std::vector<std::string> tags{};
  std::uint32_t statuses = 0;  ///< bit per Shown
  /// 0 = no answer came, 100, 200 … 500; of the last attempt.
  std::vector<std::uint32_t> status_classes{};
  std::vector<std::string> event_refs{};  ///< ids of events, or the texts that their owner chose
  friend bool operator==(const ReplayFilter&, const ReplayFilter&) = default;
};

/// By what the event is.
bool selects(const ReplayFilter& filter, const Event& event);
/// By how its newest delivery to an endpoint stood at that moment. `state` is as it is now: what
/// has ended since was under way then.
bool selects(const ReplayFilter& filter, const MessageState& state, Moment at);

/// Deliveries of an application that are made again (task/replay.cpp).
struct ReplayEvents {
  /// What it was asked for as. Numbers are on disk.
  enum class Purpose : std::uint8_t { replay = 0, recover = 1, missing = 2, bulk = 3 };
  /// First they are counted, then made, then waited for. Numbers are on disk.
  enum class Phase : std::uint8_t { counting = 0, making = 1, settling = 2 };

  Number application = 0;
  Purpose purpose{};
  std::vector<Number> endpoints{};  ///< empty = all of the application
  Moment since{};
  Moment until{};  ///< exclusive
  ReplayFilter filter{};
  bool missing_only = false;  ///< only where it was never addressed to
  bool newest_first = false;
  bool retry = true;       ///< with the endpoint's schedule; else one attempt
  Number redirect_to = 0;  ///< an endpoint that gets them instead; 0 = none

  Phase phase{};
  Number after = 0;           ///< how far the phase is: the event that was last looked at; 0 = none
  Number after_endpoint = 0;  ///< … and the endpoint, if not all of them
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t canceled = 0;
  std::uint64_t skipped = 0;
  std::uint64_t bytes = 0;  ///< of the payloads of what was made
  friend bool operator==(const ReplayEvents&, const ReplayEvents&) = default;
};

/// Events that it looks at next, behind `after`, in its order. Those numbered `before` or later are
/// newer than it.
std::vector<Event> events_to_replay(Reader& reader, TenantId tenant, const ReplayEvents& what,
                                    Number before, std::size_t limit);
/// Is the event one that is delivered again because of that endpoint? As it stood when the replay
/// began: `before` is its number, `up_to` the last message then. A dry run asks so for each event
/// and endpoint.
bool is_replayed(Reader& reader, const ReplayEvents& what, const Event& event,
                 const Endpoint& endpoint, Number before, Seq up_to, Moment began_at);

/// Payloads that are expunged, of all that was published to an application before it started.
struct ExpungeContents {
  Number application = 0;
  Number up_to = 0;
  Number after = 0;  ///< how far it is
  friend bool operator==(const ExpungeContents&, const ExpungeContents&) = default;
};

}  // namespace hk::core::webhook
