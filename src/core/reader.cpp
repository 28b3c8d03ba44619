#include "core/reader.h"

namespace hk::core {

std::vector<LaneEntry> Reader::lane_entries(const LaneKey& lane,
                                            const std::optional<LanePlace>& after,
                                            std::size_t limit) {
  auto range = Range<LaneRow>::of(lane);
  if (after) {
    range.after(lane, *after);
  }
  std::vector<LaneEntry> entries;
  for (LaneRow& row : scan(range, limit)) {
    entries.push_back(std::move(row.entry));
  }
  return entries;
}

std::vector<LaneRow> Reader::lane_rows(const std::optional<LaneKey>& after, std::size_t limit) {
  Range<LaneRow> range;
  if (after) {
    range.after(*after);
  }
  return scan(range, limit);
}

std::optional<LaneKey> Reader::next_lane(const std::optional<LaneKey>& after) {
  auto first = lane_rows(after, 1);
  return first.empty() ? std::nullopt : std::optional(std::move(first.front().lane));
}

Range<Message> Reader::numbered_after(Seq after) {
  return Range<Message>().after(after).up_to(make_seq(origin_of(after), counter_max));
}

Seq Reader::last_seq() {
  const Seq indexed = get<Meta>({}).value_or(Meta{}).indexed_up_to;
  // Only behind the mark: what was purged before it may have left nothing but deleted rows.
  const auto last = scan(numbered_after(indexed), 1, Order::descending);
  return last.empty() ? indexed : std::max(indexed, last.front()->id.seq);
}

}  // namespace hk::core
