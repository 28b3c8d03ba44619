// Start-up: memory is rebuilt from a bounded part of the store.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"

HK_SOMETIMES_DECLARE(recovered_young_message)
HK_SOMETIMES_DECLARE(recovered_lane)
HK_SOMETIMES_DECLARE(recovered_sweep)

namespace hk::core {

namespace {
constexpr std::size_t messages_per_read = 512;
constexpr std::size_t rows_per_read = 512;
}  // namespace

void Machine::recover(Reader& reader, Moment now) {
  HK_ASSERT(meta_.epoch == 0);
  meta_ = reader.meta().value_or(Meta{});
  meta_written_ = meta_;
  ++meta_.epoch;  // differs from what is stored, so that take() writes it
  meta_.time = std::max(meta_.time, now);
  for (const Tenant& tenant : reader.tenants()) {
    tenants_[tenant.id] = tenant;
    // The stored time lags by meta_every: what happened after it is in the log, and a clock that
    // was set back must not put later events before it.
    for (const Events& last : reader.scan(Range<Events>::of(tenant.id), 1, Order::descending)) {
      meta_.time = std::max(meta_.time, last.time);
    }
  }
  batch_number_ = static_cast<std::uint64_t>(meta_.epoch) << 32U;
  last_seq_ = reader.last_seq();
  // Purged messages leave no trace in the table; the mark remembers that their numbers were used.
  last_seq_ = std::max(last_seq_, meta_.indexed_up_to);
  batch_.begin(meta_.time, ++batch_number_, reader);

  for (const auto& [tenant, counts] : reader.counters()) {
    HK_ASSERT(counts.conserved());
    counters_[tenant] = counts;
  }
  for (const Queue& queue : reader.queues()) {
    queues_[{queue.tenant, queue.name}] = queue;
    scheduler_.queue_gate(queue.tenant, queue.name).paused = queue.paused;
    if (queue.sweep_up_to != Seq{}) {
      HK_SOMETIMES(recovered_sweep);
      go_on_sweeping(queue);
    }
  }
  for (UrlGroup& group : reader.url_groups()) {
    const std::pair key{group.tenant, group.name};
    url_groups_[key] = std::move(group);
  }
  for (const FlowKey& flow : reader.flow_keys()) {
    flow_keys_[{flow.tenant, flow.key}] = flow;
    Gate& gate = scheduler_.flow_gate(flow.tenant, flow.key);
    gate.parallelism = flow.parallelism;
    gate.rate = flow.rate;
    gate.period = flow.period;
    gate.paused = flow.paused;
    gate.window_start = flow.window_start;
    gate.window_count = flow.window_count;
    gate.last_use = meta_.time;  // when it was used is not stored: it is idle from now on
    check_flow_key_later({flow.tenant, flow.key});
  }

  recover_lanes(reader);  // before the young ones, which are placed against filled windows

  // Messages accepted shortly before the end have no index entry yet: they get one now.
  Seq at = meta_.indexed_up_to;
  for (;;) {
    const auto messages = reader.messages_after(at, messages_per_read);
    for (const auto& message : messages) {
      at = message->id.seq;
      if (find_live(at) != nullptr || batch_.state(at).has_value()) {
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
      wait_in_lane(live);
    }
    if (messages.size() < messages_per_read) {
      break;
    }
  }
  meta_.indexed_up_to = std::max(last_seq_, meta_.indexed_up_to);
  for (const auto& [id, tenant] : tenants_) {
    recover_delayed(id);
    recover_moves(id);
    recover_retimes(id);
  }
  next_expiry_check_ = meta_.time;
  next_event_purge_ = meta_.time;
  for (const ScheduleDue& first : reader.next_schedules(1)) {
    next_schedule_at_ = first.at;
  }
}

/// Many short lanes are read together. All are there before one is filled, because windows share
/// what may be in memory.
void Machine::recover_lanes(Reader& reader) {
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
        read_lane(lane);  // it goes on behind these rows
      } else {
        fill_lane(lane, entries, entries.size() == limit);
      }
    }
  }
}

}  // namespace hk::core
