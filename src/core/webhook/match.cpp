// What matches what. Pure.
#include <algorithm>

#include "core/webhook/id.h"
#include "core/webhook/replay.h"

namespace hk::core::webhook {

namespace {

bool have_one_in_common(const std::vector<std::string>& some,
                        const std::vector<std::string>& others) {
  return std::ranges::any_of(
      some, [&](const std::string& one) { return std::ranges::find(others, one) != others.end(); });
}

bool accepts_text(const std::vector<std::string>& wanted, std::string_view text) {
  return wanted.empty() || std::ranges::find(wanted, text) != wanted.end();
}

std::uint32_t shown_bit(Shown one) { return 1U << static_cast<unsigned>(one); }

}  // namespace

bool matches(const Endpoint& endpoint, std::string_view event_type,
             const std::vector<std::string>& channels) {
  return accepts_text(endpoint.event_types, event_type) &&
         (endpoint.channels.empty() || have_one_in_common(endpoint.channels, channels));
}

Shown shown(const MessageState& state) {
  switch (state.status) {
    case Status::succeeded: return Shown::succeeded;
    case Status::failed: return Shown::failed;
    case Status::canceled: return Shown::canceled;
    case Status::pending:
    case Status::running: break;
  }
  return state.attempts == 0 ? Shown::pending : Shown::sending;
}

bool selects(const ReplayFilter& filter, const Event& event) {
  return accepts_text(filter.event_types, event.event_type) &&
         (filter.channels.empty() || have_one_in_common(filter.channels, event.channels)) &&
         (filter.tags.empty() || have_one_in_common(filter.tags, event.tags)) &&
         (filter.event_refs.empty() ||
          std::ranges::any_of(filter.event_refs, [&](const std::string& ref) {
            return ref == event.event_id || ref == id_of(event);
          }));
}

bool selects(const ReplayFilter& filter, const MessageState& state, Moment at) {
  constexpr std::uint32_t per_class = 100;
  const bool ended_since = is_final(state.status) && state.finished_at > at;
  const Shown then = !ended_since          ? shown(state)
                     : state.attempts <= 1 ? Shown::pending
                                           : Shown::sending;
  if (filter.statuses != 0 && (filter.statuses & shown_bit(then)) == 0) {
    return false;
  }
  if (filter.status_classes.empty()) {
    return true;
  }
  if (!state.last) {
    return false;
  }
  const auto status = static_cast<std::uint32_t>(state.last->response_status);
  return std::ranges::find(filter.status_classes, status / per_class * per_class) !=
         filter.status_classes.end();
}

}  // namespace hk::core::webhook
