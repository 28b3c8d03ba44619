/// What the core reads, from memory: mutations are applied to plain maps. For unit tests only; no
/// bytes, no snapshots.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.h"

namespace hk::core::testing {

class MemoryReader final : public Reader {
 public:
  using Name = std::pair<TenantId, std::string>;

  void apply(const Mutation& mutation) {
    std::visit([this](const auto& one) { on(one); }, mutation);
  }

  // In the open: a test looks at them and may bend them.
  std::map<Seq, std::shared_ptr<const Message>> messages;
  std::map<Seq, MessageState> states;
  std::map<Seq, std::map<std::uint32_t, Attempt>> older_attempts;
  std::map<LaneKey, std::map<LanePlace, LaneEntry>> lanes;
  std::map<Name, Dedup> dedup_entries;
  std::set<DeadLetterKey> letters;
  std::map<std::pair<Moment, std::uint64_t>, PutExpiry> expiries;
  std::vector<AppendEvents> event_batches;
  std::map<Name, Queue> queue_records;
  std::map<Name, FlowKey> flow_records;
  std::map<Name, UrlGroup> group_records;
  std::map<Name, Schedule> schedule_records;
  std::map<Name, ScheduleState> schedule_states;
  std::set<ScheduleDue> schedule_order;
  std::map<std::tuple<TenantId, std::string, std::string>, Document> document_records;
  std::map<TenantId, Tenant> tenant_records;
  std::map<TenantId, Counters> counter_records;
  std::optional<Meta> meta_record;

  std::shared_ptr<const Message> message(Seq seq) override {
    const auto found = messages.find(seq);
    return found == messages.end() ? nullptr : found->second;
  }
  std::optional<MessageState> state(Seq seq) override { return get(states, seq); }
  std::vector<Attempt> attempts(Seq seq) override {
    std::vector<Attempt> out;
    for (const auto& [number, attempt] : older_attempts[seq]) {
      out.push_back(attempt);
    }
    return out;
  }
  std::optional<Dedup> dedup(TenantId tenant, std::string_view id) override {
    return get(dedup_entries, Name{tenant, std::string(id)});
  }
  bool has_dead_letter(const DeadLetterKey& key) override { return letters.contains(key); }
  std::vector<LaneEntry> lane_entries(const LaneKey& lane, std::optional<LanePlace> after,
                                      std::size_t limit) override {
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
  std::vector<LaneRow> lane_rows(const std::optional<LaneKey>& after, std::size_t limit) override {
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
  std::vector<std::shared_ptr<const Message>> messages_after(Seq after,
                                                             std::size_t limit) override {
    std::vector<std::shared_ptr<const Message>> out;
    for (auto at = messages.upper_bound(after); at != messages.end() && out.size() < limit; ++at) {
      out.push_back(at->second);
    }
    return out;
  }
  Seq last_seq() override { return messages.empty() ? Seq{} : messages.rbegin()->first; }
  std::vector<PutExpiry> expiries_until(Moment now, std::size_t limit) override {
    std::vector<PutExpiry> out;
    for (auto at = expiries.begin();
         at != expiries.end() && at->first.first <= now && out.size() < limit; ++at) {
      out.push_back(at->second);
    }
    return out;
  }
  std::optional<Meta> meta() override { return meta_record; }
  std::vector<Tenant> tenants() override { return values(tenant_records); }
  std::vector<Queue> queues() override { return values(queue_records); }
  std::vector<FlowKey> flow_keys() override { return values(flow_records); }
  std::vector<UrlGroup> url_groups() override { return values(group_records); }
  std::optional<Schedule> schedule(TenantId tenant, std::string_view id) override {
    return get(schedule_records, Name{tenant, std::string(id)});
  }
  std::optional<ScheduleState> schedule_state(TenantId tenant, std::string_view id) override {
    return get(schedule_states, Name{tenant, std::string(id)});
  }
  std::vector<ScheduleDue> next_schedules(std::size_t limit) override {
    std::vector<ScheduleDue> out(schedule_order.begin(), schedule_order.end());
    out.resize(std::min(out.size(), limit));
    return out;
  }
  std::vector<UrlGroup> url_groups(TenantId tenant) override { return of(group_records, tenant); }
  std::optional<UrlGroup> url_group(TenantId tenant, std::string_view name) override {
    return get(group_records, Name{tenant, std::string(name)});
  }
  std::vector<Queue> queues(TenantId tenant) override { return of(queue_records, tenant); }
  std::optional<Queue> queue(TenantId tenant, std::string_view name) override {
    return get(queue_records, Name{tenant, std::string(name)});
  }
  std::optional<FlowKey> flow_key(TenantId tenant, std::string_view key) override {
    return get(flow_records, Name{tenant, std::string(key)});
  }
  std::optional<Document> document(TenantId tenant, std::string_view kind,
                                   std::string_view name) override {
    return get(document_records, std::tuple{tenant, std::string(kind), std::string(name)});
  }
  std::vector<Document> documents(TenantId tenant, std::string_view kind, std::string_view after,
                                  std::size_t limit) override {
    std::vector<Document> out;
    for (const auto& [key, one] : document_records) {
      if (one.tenant == tenant && one.kind == kind && one.name > after && out.size() < limit) {
        out.push_back(one);
      }
    }
    return out;
  }
  std::vector<Schedule> schedules(TenantId tenant, std::string_view after,
                                  std::size_t limit) override {
    std::vector<Schedule> out = of(schedule_records, tenant);
    std::erase_if(out, [after](const Schedule& one) { return one.id <= after; });
    out.resize(std::min(out.size(), limit));
    return out;
  }
  std::vector<std::pair<TenantId, Counters>> counters() override {
    return {counter_records.begin(), counter_records.end()};
  }
  std::vector<DeadLetterKey> dead_letters(TenantId, std::optional<DeadLetterKey>, bool,
                                          std::size_t) override {
    return {letters.begin(), letters.end()};
  }
  /// The cursor `after` is the edge's business and not used here.
  std::vector<AppendEvents> events(TenantId tenant, Moment from, Moment to,
                                   std::optional<std::pair<Moment, std::uint64_t>>,
                                   bool latest_first, std::size_t limit) override {
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

 private:
  template <class Map>
  static std::optional<typename Map::mapped_type> get(const Map& map,
                                                      const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
  template <class Map>
  static std::vector<typename Map::mapped_type> of(const Map& map, TenantId tenant) {
    std::vector<typename Map::mapped_type> out;
    for (const auto& [key, value] : map) {
      if (key.first == tenant) {
        out.push_back(value);
      }
    }
    return out;
  }
  template <class Map>
  static std::vector<typename Map::mapped_type> values(const Map& map) {
    std::vector<typename Map::mapped_type> out;
    for (const auto& [key, value] : map) {
      out.push_back(value);
    }
    return out;
  }

  void on(const PutMessage& m) { messages[m.message->id.seq] = m.message; }
  void on(const PutState& m) { states[m.seq] = m.state; }
  void on(const PutAttempt& m) { older_attempts[m.seq][m.attempt.fence.attempt] = m.attempt; }
  void on(const PutLaneEntry& m) { lanes[m.lane][m.entry.place] = m.entry; }
  void on(const DeleteLaneEntry& m) {
    if (const auto found = lanes.find(m.lane); found != lanes.end()) {
      found->second.erase(m.place);
      if (found->second.empty()) {
        lanes.erase(found);
      }
    }
  }
  void on(const PutDedup& m) { dedup_entries[{m.tenant, m.id}] = m.dedup; }
  void on(const DeleteDedup& m) { dedup_entries.erase({m.tenant, m.id}); }
  void on(const PutDeadLetter& m) { letters.insert(m.key); }
  void on(const DeleteDeadLetter& m) { letters.erase(m.key); }
  void on(const AppendEvents& m) { event_batches.push_back(m); }
  void on(const PutExpiry& m) { expiries[{m.at, m.batch}] = m; }
  void on(const DeleteExpiry& m) { expiries.erase({m.at, m.batch}); }
  void on(const PurgeMessage& m) {
    messages.erase(m.seq);
    states.erase(m.seq);
    if (m.has_attempts) {
      older_attempts.erase(m.seq);
    }
  }
  void on(const PurgeEvents& m) {
    std::erase_if(event_batches, [&m](const AppendEvents& events) {
      return events.tenant == m.tenant && events.time < m.before;
    });
  }
  void on(const PutQueue& m) { queue_records[{m.queue.tenant, m.queue.name}] = m.queue; }
  void on(const DeleteQueue& m) { queue_records.erase({m.tenant, m.name}); }
  void on(const PutFlowKey& m) { flow_records[{m.flow_key.tenant, m.flow_key.key}] = m.flow_key; }
  void on(const DeleteFlowKey& m) { flow_records.erase({m.tenant, m.key}); }
  void on(const PutUrlGroup& m) { group_records[{m.group.tenant, m.group.name}] = m.group; }
  void on(const DeleteUrlGroup& m) { group_records.erase({m.tenant, m.name}); }
  void on(const PutSchedule& m) {
    schedule_records[{m.schedule.tenant, m.schedule.id}] = m.schedule;
  }
  void on(const PutScheduleState& m) {
    schedule_order.erase({m.previous_next_at, m.tenant, m.id});
    schedule_states[{m.tenant, m.id}] = m.state;
    if (m.state.next_at != never) {
      schedule_order.insert({m.state.next_at, m.tenant, m.id});
    }
  }
  void on(const DeleteSchedule& m) {
    schedule_records.erase({m.tenant, m.id});
    schedule_states.erase({m.tenant, m.id});
    schedule_order.erase({m.next_at, m.tenant, m.id});
  }
  void on(const PutDocument& m) {
    document_records[{m.document.tenant, m.document.kind, m.document.name}] = m.document;
  }
  void on(const DeleteDocument& m) { document_records.erase({m.tenant, m.kind, m.name}); }
  void on(const PutTenant& m) { tenant_records[m.tenant.id] = m.tenant; }
  void on(const PutCounters& m) { counter_records[m.tenant] = m.counters; }
  void on(const PutMeta& m) { meta_record = m.meta; }
};

}  // namespace hk::core::testing
