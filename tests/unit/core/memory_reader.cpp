#include "unit/core/memory_reader.h"

#include <algorithm>
#include <variant>

namespace hk::core::testing {
namespace {

template <class Map>
std::optional<typename Map::mapped_type> get(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}
template <class Map>
std::vector<typename Map::mapped_type> of(const Map& map, TenantId tenant) {
  std::vector<typename Map::mapped_type> out;
  for (const auto& [key, value] : map) {
    if (key.first == tenant) {
      out.push_back(value);
    }
  }
  return out;
}
template <class Map>
std::vector<typename Map::mapped_type> values(const Map& map) {
  std::vector<typename Map::mapped_type> out;
  for (const auto& [key, value] : map) {
    out.push_back(value);
  }
  return out;
}

struct Apply {
  MemoryReader& to;

  void operator()(const PutMessage& m) { to.messages[m.message->id.seq] = m.message; }
  void operator()(const PutState& m) { to.states[m.seq] = m.state; }
  void operator()(const PutAttempt& m) {
    to.older_attempts[m.seq][m.attempt.fence.attempt] = m.attempt;
  }
  void operator()(const PutLaneEntry& m) { to.lanes[m.lane][m.entry.place] = m.entry; }
  void operator()(const DeleteLaneEntry& m) {
    if (const auto found = to.lanes.find(m.lane); found != to.lanes.end()) {
      found->second.erase(m.place);
      if (found->second.empty()) {
        to.lanes.erase(found);
      }
    }
  }
  void operator()(const PutDedup& m) { to.dedup_entries[{m.tenant, m.id}] = m.dedup; }
  void operator()(const DeleteDedup& m) { to.dedup_entries.erase({m.tenant, m.id}); }
  void operator()(const PutDeadLetter& m) { to.letters.insert(m.key); }
  void operator()(const DeleteDeadLetter& m) { to.letters.erase(m.key); }
  void operator()(const AppendEvents& m) { to.event_batches.push_back(m); }
  void operator()(const PutExpiry& m) { to.expiries[{m.at, m.batch}] = m; }
  void operator()(const DeleteExpiry& m) { to.expiries.erase({m.at, m.batch}); }
  void operator()(const PurgeMessage& m) {
    to.messages.erase(m.seq);
    to.states.erase(m.seq);
    if (m.has_attempts) {
      to.older_attempts.erase(m.seq);
    }
  }
  void operator()(const PurgeEvents& m) {
    std::erase_if(to.event_batches, [&m](const AppendEvents& events) {
      return events.tenant == m.tenant && events.time < m.before;
    });
  }
  void operator()(const PutQueue& m) { to.queue_records[{m.queue.tenant, m.queue.name}] = m.queue; }
  void operator()(const DeleteQueue& m) { to.queue_records.erase({m.tenant, m.name}); }
  void operator()(const PutFlowKey& m) {
    to.flow_records[{m.flow_key.tenant, m.flow_key.key}] = m.flow_key;
  }
  void operator()(const DeleteFlowKey& m) { to.flow_records.erase({m.tenant, m.key}); }
  void operator()(const PutUrlGroup& m) {
    to.group_records[{m.group.tenant, m.group.name}] = m.group;
  }
  void operator()(const DeleteUrlGroup& m) { to.group_records.erase({m.tenant, m.name}); }
  void operator()(const PutSchedule& m) {
    to.schedule_records[{m.schedule.tenant, m.schedule.id}] = m.schedule;
  }
  void operator()(const PutScheduleState& m) {
    to.schedule_order.erase({m.previous_next_at, m.tenant, m.id});
    to.schedule_states[{m.tenant, m.id}] = m.state;
    if (m.state.next_at != never) {
      to.schedule_order.insert({m.state.next_at, m.tenant, m.id});
    }
  }
  void operator()(const DeleteSchedule& m) {
    to.schedule_records.erase({m.tenant, m.id});
    to.schedule_states.erase({m.tenant, m.id});
    to.schedule_order.erase({m.next_at, m.tenant, m.id});
  }
  void operator()(const PutDocument& m) {
    to.document_records[{m.document.tenant, m.document.kind, m.document.name}] = m.document;
  }
  void operator()(const DeleteDocument& m) {
    to.document_records.erase({m.tenant, m.kind, m.name});
  }
  void operator()(const PutTenant& m) { to.tenant_records[m.tenant.id] = m.tenant; }
  void operator()(const PutCounters& m) { to.counter_records[m.tenant] = m.counters; }
  void operator()(const PutMeta& m) { to.meta_record = m.meta; }
};

}  // namespace

MemoryReader::MemoryReader() = default;
MemoryReader::~MemoryReader() = default;

void MemoryReader::apply(const Mutation& mutation) { std::visit(Apply{*this}, mutation); }

std::shared_ptr<const Message> MemoryReader::message(Seq seq) {
  const auto found = messages.find(seq);
  return found == messages.end() ? nullptr : found->second;
}

std::optional<MessageState> MemoryReader::state(Seq seq) { return get(states, seq); }

std::vector<Attempt> MemoryReader::attempts(Seq seq) {
  std::vector<Attempt> out;
  for (const auto& [number, attempt] : older_attempts[seq]) {
    out.push_back(attempt);
  }
  return out;
}

std::optional<Dedup> MemoryReader::dedup(TenantId tenant, std::string_view id) {
  return get(dedup_entries, Name{tenant, std::string(id)});
}

bool MemoryReader::has_dead_letter(const DeadLetterKey& key) { return letters.contains(key); }

std::vector<LaneEntry> MemoryReader::lane_entries(const LaneKey& lane,
                                                  std::optional<LanePlace> after,
                                                  std::size_t limit) {
  std::vector<LaneEntry> out;
  const auto found = lanes.find(lane);
  if (found == lanes.end()) {
    return out;
  }
  auto at = after ? found->second.upper_bound(*after) : found->second.begin();
  for (; at != found->second.end() && out.size() < limit; ++at) {
    out.push_back(at->second);
  }
  return out;
}

std::vector<LaneRow> MemoryReader::lane_rows(const std::optional<LaneKey>& after,
                                             std::size_t limit) {
  std::vector<LaneRow> out;
  for (auto at = after ? lanes.upper_bound(*after) : lanes.begin(); at != lanes.end(); ++at) {
    for (const auto& [place, entry] : at->second) {
      if (out.size() == limit) {
        return out;
      }
      out.push_back({at->first, entry});
    }
  }
  return out;
}

std::vector<std::shared_ptr<const Message>> MemoryReader::messages_after(Seq after,
                                                                         std::size_t limit) {
  std::vector<std::shared_ptr<const Message>> out;
  for (auto at = messages.upper_bound(after); at != messages.end() && out.size() < limit; ++at) {
    out.push_back(at->second);
  }
  return out;
}

Seq MemoryReader::last_seq() { return messages.empty() ? Seq{} : messages.rbegin()->first; }

std::vector<PutExpiry> MemoryReader::expiries_until(Moment now, std::size_t limit) {
  std::vector<PutExpiry> out;
  for (auto at = expiries.begin();
       at != expiries.end() && at->first.first <= now && out.size() < limit; ++at) {
    out.push_back(at->second);
  }
  return out;
}

std::optional<Meta> MemoryReader::meta() { return meta_record; }

std::vector<Tenant> MemoryReader::tenants() { return values(tenant_records); }

std::vector<Queue> MemoryReader::queues() { return values(queue_records); }

std::vector<FlowKey> MemoryReader::flow_keys() { return values(flow_records); }

std::vector<UrlGroup> MemoryReader::url_groups() { return values(group_records); }

std::optional<Schedule> MemoryReader::schedule(TenantId tenant, std::string_view id) {
  return get(schedule_records, Name{tenant, std::string(id)});
}

std::optional<ScheduleState> MemoryReader::schedule_state(TenantId tenant, std::string_view id) {
  return get(schedule_states, Name{tenant, std::string(id)});
}

std::vector<ScheduleDue> MemoryReader::next_schedules(std::size_t limit) {
  std::vector<ScheduleDue> out(schedule_order.begin(), schedule_order.end());
  out.resize(std::min(out.size(), limit));
  return out;
}

std::vector<UrlGroup> MemoryReader::url_groups(TenantId tenant) {
  return of(group_records, tenant);
}

std::optional<UrlGroup> MemoryReader::url_group(TenantId tenant, std::string_view name) {
  return get(group_records, Name{tenant, std::string(name)});
}

std::vector<Queue> MemoryReader::queues(TenantId tenant) { return of(queue_records, tenant); }

std::optional<Queue> MemoryReader::queue(TenantId tenant, std::string_view name) {
  return get(queue_records, Name{tenant, std::string(name)});
}

std::optional<FlowKey> MemoryReader::flow_key(TenantId tenant, std::string_view key) {
  return get(flow_records, Name{tenant, std::string(key)});
}

std::optional<Document> MemoryReader::document(TenantId tenant, std::string_view kind,
                                               std::string_view name) {
  return get(document_records, std::tuple{tenant, std::string(kind), std::string(name)});
}

std::vector<Document> MemoryReader::documents(TenantId tenant, std::string_view kind,
                                              std::string_view after, std::size_t limit) {
  std::vector<Document> out;
  for (const auto& [key, one] : document_records) {
    if (one.tenant == tenant && one.kind == kind && one.name > after && out.size() < limit) {
      out.push_back(one);
    }
  }
  return out;
}

std::vector<Schedule> MemoryReader::schedules(TenantId tenant, std::string_view after,
                                              std::size_t limit) {
  std::vector<Schedule> out = of(schedule_records, tenant);
  std::erase_if(out, [after](const Schedule& one) { return one.id <= after; });
  out.resize(std::min(out.size(), limit));
  return out;
}

std::vector<std::pair<TenantId, Counters>> MemoryReader::counters() {
  return {counter_records.begin(), counter_records.end()};
}

std::vector<DeadLetterKey> MemoryReader::dead_letters(TenantId, std::optional<DeadLetterKey>, bool,
                                                      std::size_t) {
  return {letters.begin(), letters.end()};
}

std::vector<AppendEvents> MemoryReader::events(TenantId tenant, Moment from, Moment to,
                                               std::optional<std::pair<Moment, std::uint64_t>>,
                                               bool latest_first, std::size_t limit) {
  std::vector<AppendEvents> out;
  for (const AppendEvents& batch : event_batches) {
    if (batch.tenant == tenant && batch.time >= from && batch.time <= to) {
      out.push_back(batch);
    }
  }
  if (latest_first) {
    std::reverse(out.begin(), out.end());
  }
  out.resize(std::min(out.size(), limit));
  return out;
}

}  // namespace hk::core::testing
