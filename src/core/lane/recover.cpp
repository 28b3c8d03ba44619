// Start-up: windows are filled from a bounded part of the store.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"

HK_SOMETIMES_DECLARE(recovered_young_message)
HK_SOMETIMES_DECLARE(recovered_lane)

namespace hk::core {

namespace {
constexpr std::size_t messages_per_read = 512;
constexpr std::size_t rows_per_read = 512;
}  // namespace

void Lanes::recover(Reader& reader) {
  recover_windows(reader);  // before the young ones, which are placed against filled windows
  recover_young(reader);
}

/// Messages accepted shortly before the end have no index entry yet: they get one now.
void Lanes::recover_young(Reader& reader) {
  Seq at = context_.progress.indexed_up_to();
  for (;;) {
    const auto messages = reader.messages_after(at, messages_per_read);
    for (const auto& message : messages) {
      at = message->id.seq;
      if (find(at) != nullptr || batch_.get<MessageState>(at).has_value()) {
        continue;  // whatever has a state record is final or has an index entry
      }
      const LaneKey key = lane_of(*message);
      const LanePlace place{key.ordered() ? Moment{} : message->not_before, at};
      Lane& lane = lane_for(key);
      if (message->pull) {
        // With an entry that was not read it is beyond the window, received or not: its turn comes.
        const auto entries = reader.lane_entries(key, LanePlace{place.due, Seq{at.value() - 1}}, 1);
        if (!entries.empty() && entries.front().place == place) {
          HK_ASSERT(lane.more);
          continue;
        }
      }
      HK_SOMETIMES(recovered_young_message);
      auto owned = std::make_unique<Live>();
      Live& live = *owned;
      live.seq = at;
      live.lane = &lane;
      live.place = place;
      live.not_before = message->not_before;
      keep(std::move(owned));
      if (key.ordered()) {
        scheduler_.use_own_gates(live, message->host, message->flow_key);
      }
      index(live);  // it may have one beyond the window: then the same is written again
      wait(live);
    }
    if (messages.size() < messages_per_read) {
      break;
    }
  }
  context_.progress.indexed(context_.progress.last_message());
}

/// Many short lanes are read together. All are there before one is filled, because windows share
/// what may be in memory.
void Lanes::recover_windows(Reader& reader) {
  std::optional<LaneKey> last;
  for (auto rows = reader.lane_rows(last, rows_per_read); !rows.empty();
       rows = reader.lane_rows(last, rows_per_read)) {
    for (LaneRow& row : rows) {
      if (!last || *last != row.lane) {
        HK_SOMETIMES(recovered_lane);
        lane_for(row.lane);
        last = std::move(row.lane);
      }
    }
  }
  last.reset();
  for (auto rows = reader.lane_rows(last, rows_per_read); !rows.empty();
       rows = reader.lane_rows(last, rows_per_read)) {
    const bool more_rows = rows.size() == rows_per_read;
    for (auto at = rows.begin(); at != rows.end();) {
      last = at->lane;
      Lane& lane = lane_for(*last);
      const std::size_t limit = scheduler_.window_size();
      std::vector<LaneEntry> entries;
      for (; at != rows.end() && at->lane == *last; ++at) {
        if (entries.size() < limit) {
          entries.push_back(std::move(at->entry));
        }
      }
      if (at == rows.end() && more_rows && entries.size() < limit) {
        read(lane);  // it goes on behind these rows
      } else {
        fill(lane, entries, entries.size() == limit);
      }
    }
  }
}

}  // namespace hk::core
