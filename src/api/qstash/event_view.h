/// How one event looks on the QStash surface (§15.3 of the wire specification): the same for an
/// event found in the log and one derived from a message's records. For reads on I/O threads.
#pragma once

#include <optional>
#include <string_view>

#include "api/qstash/view.h"
#include "api/story.h"
#include "base/json.h"

namespace hk::api::qstash {

std::string_view state_name(core::EventKind kind);

/// Which states a `state` parameter means: CANCELLED is CANCELED, IN_PROGRESS is ACTIVE, RETRY or
/// ERROR.
class StateFilter {
 public:
  /// nullopt: no such state.
  static std::optional<StateFilter> parse(std::string_view text);
  [[nodiscard]] bool matches(core::EventKind kind) const;

 private:
  std::string_view name_{};  // of a literal; "" = every state
};

struct EventStyle {
  bool with_bodies = true;
  Millis timeout_default{};  ///< a timeout that was not asked for is not shown
};

/// REQUIRES: the story's attempts were read if the kind is error or retry.
void write_event(JsonWriter& json, const HistoryEntry& event, const Story& story, FlowLimits& flows,
                 const EventStyle& style);

}  // namespace hk::api::qstash
