#include "core/webhook/replay.h"

#include <algorithm>

#include "core/reader.h"
#include "core/webhook/id.h"

namespace hk::core::webhook {

namespace {

constexpr std::size_t generations_looked_at = 256;
}  // namespace

std::vector<Event> events_to_replay(Reader& reader, TenantId tenant, const ReplayEvents& what,
                                    Number before, std::size_t limit) {
  constexpr Millis lead{1000};  // a number may be ahead of its time
  auto range =
      Range<Event>::of(tenant, what.application)
          .from(tenant, what.application, first_number_at(what.since))
          .before(
              tenant, what.application,
              what.until >= never ? before : std::min(before, first_number_at(what.until + lead)));
  if (what.after != 0) {
    // One that it is in the middle of comes again.
    const bool whole = what.after_endpoint == 0;
    if (what.newest_first) {
      whole ? range.before(tenant, what.application, what.after)
            : range.up_to(tenant, what.application, what.after);
    } else {
      whole ? range.after(tenant, what.application, what.after)
            : range.from(tenant, what.application, what.after);
    }
  }
  return reader.scan(range, limit,
                     what.newest_first ? hk::core::Order::descending : hk::core::Order::ascending);
}

bool is_replayed(Reader& reader, const ReplayEvents& what, const Event& event,
                 const Endpoint& endpoint, Number before, Seq up_to, Moment began_at) {
  const bool is_meant =
      what.endpoints.empty() || std::ranges::binary_search(what.endpoints, endpoint.number);
  if (!is_meant || endpoint.number >= before || event.made.at < what.since ||
      event.made.at >= what.until || !selects(what.filter, event)) {
    return false;
  }
  const auto rows = reader.scan(Range<DeliveryRow>::of(event.tenant, endpoint.number, event.number),
                                generations_looked_at, hk::core::Order::descending);
  const auto newest =
      std::ranges::find_if(rows, [up_to](const DeliveryRow& row) { return row.delivery <= up_to; });
  if (what.missing_only) {
    return newest == rows.end() && matches(endpoint, event.event_type, event.channels);
  }
  if (newest == rows.end()) {
    return false;
  }
  const auto state_of_row = [&reader](const DeliveryRow& row) {
    return reader.get<MessageState>(row.delivery).value_or(MessageState{});
  };
  if (what.purpose == ReplayEvents::Purpose::recover &&
      std::any_of(newest, rows.end(), [&](const DeliveryRow& row) {
        return state_of_row(row).status == Status::succeeded;
      })) {
    return false;
  }
  ReplayFilter filter = {.statuses = what.filter.statuses,
                         .status_classes = what.filter.status_classes};
  if (what.purpose == ReplayEvents::Purpose::recover) {
    filter.statuses = 1U << static_cast<unsigned>(Shown::failed);
  }
  return selects(filter, state_of_row(*newest), began_at);
}

}  // namespace hk::core::webhook
