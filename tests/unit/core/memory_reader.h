/// What the core reads, from memory: mutations are applied to plain maps. For unit tests only; no
/// bytes, no snapshots. What it does stands in the .cpp file: every test of the core includes this.
#pragma once

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

  MemoryReader();
  ~MemoryReader() override;

  void apply(const Mutation& mutation);

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

  std::shared_ptr<const Message> message(Seq seq) override;
  std::optional<MessageState> state(Seq seq) override;
  std::vector<Attempt> attempts(Seq seq) override;
  std::optional<Dedup> dedup(TenantId tenant, std::string_view id) override;
  bool has_dead_letter(const DeadLetterKey& key) override;
  std::vector<LaneEntry> lane_entries(const LaneKey& lane, std::optional<LanePlace> after,
                                      std::size_t limit) override;
  std::vector<LaneRow> lane_rows(const std::optional<LaneKey>& after, std::size_t limit) override;
  std::vector<std::shared_ptr<const Message>> messages_after(Seq after, std::size_t limit) override;
  Seq last_seq() override;
  std::vector<PutExpiry> expiries_until(Moment now, std::size_t limit) override;
  std::optional<Meta> meta() override;
  std::vector<Tenant> tenants() override;
  std::vector<Queue> queues() override;
  std::vector<FlowKey> flow_keys() override;
  std::vector<UrlGroup> url_groups() override;
  std::optional<Schedule> schedule(TenantId tenant, std::string_view id) override;
  std::optional<ScheduleState> schedule_state(TenantId tenant, std::string_view id) override;
  std::vector<ScheduleDue> next_schedules(std::size_t limit) override;
  std::vector<UrlGroup> url_groups(TenantId tenant) override;
  std::optional<UrlGroup> url_group(TenantId tenant, std::string_view name) override;
  std::vector<Queue> queues(TenantId tenant) override;
  std::optional<Queue> queue(TenantId tenant, std::string_view name) override;
  std::optional<FlowKey> flow_key(TenantId tenant, std::string_view key) override;
  std::optional<Document> document(TenantId tenant, std::string_view kind,
                                   std::string_view name) override;
  std::vector<Document> documents(TenantId tenant, std::string_view kind, std::string_view after,
                                  std::size_t limit) override;
  std::vector<Schedule> schedules(TenantId tenant, std::string_view after,
                                  std::size_t limit) override;
  std::vector<std::pair<TenantId, Counters>> counters() override;
  std::vector<DeadLetterKey> dead_letters(TenantId, std::optional<DeadLetterKey>, bool,
                                          std::size_t) override;
  /// The cursor `after` is the edge's business and not used here.
  std::vector<AppendEvents> events(TenantId tenant, Moment from, Moment to,
                                   std::optional<std::pair<Moment, std::uint64_t>>,
                                   bool latest_first, std::size_t limit) override;
};

}  // namespace hk::core::testing
