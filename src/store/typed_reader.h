/// The core's reader over any store's snapshot: keys and bytes become records. Made by the engine
/// for the core (one per batch) and for edge threads (the durable view). As safe for concurrent use
/// as the snapshot below it. A record that cannot be read or decoded is thrown as
/// core::CorruptRecord, with table and key in the text.
#pragma once

#include <memory>

#include "core/reader.h"
#include "store/store.h"

namespace hk::store {

/// A record that the disk did not give out: whether it is what was written, nobody knows.
struct UnreadableRecord : core::CorruptRecord {
  using CorruptRecord::CorruptRecord;
};

class TypedReader final : public core::Reader {
 public:
  /// Shared: the engine may keep the snapshot for other readers. REQUIRES: snapshot is not null.
  explicit TypedReader(std::shared_ptr<store::Reader> snapshot);

  std::shared_ptr<const core::Message> message(core::Seq seq) override;
  std::optional<core::MessageState> state(core::Seq seq) override;
  std::vector<core::Attempt> attempts(core::Seq seq) override;
  std::optional<core::Dedup> dedup(core::TenantId tenant, std::string_view id) override;
  bool has_dead_letter(const core::DeadLetterKey& key) override;

  std::vector<core::LaneEntry> lane_entries(const core::LaneKey& lane,
                                            std::optional<core::LanePlace> after,
                                            std::size_t limit) override;
  std::vector<core::LaneRow> lane_rows(const std::optional<core::LaneKey>& after,
                                       std::size_t limit) override;
  std::vector<std::shared_ptr<const core::Message>> messages_after(core::Seq after,
                                                                   std::size_t limit) override;
  /// The highest seq that a stored message has, and no lower than Meta::indexed_up_to: a number is
  /// not given out again when the last message has been purged.
  core::Seq last_seq() override;

  std::vector<core::PutExpiry> expiries_until(Moment now, std::size_t limit) override;
  /// Time and batch: the order of expiries.
  using ExpiryPlace = std::pair<Moment, std::uint64_t>;
  /// Those with from <= place < to: for who knows that there are none before.
  std::vector<core::PutExpiry> expiries(const ExpiryPlace& from, const ExpiryPlace& to,
                                        std::size_t limit);
  std::optional<core::Meta> meta() override;
  std::vector<core::Tenant> tenants() override;
  std::vector<core::Queue> queues() override;
  std::vector<core::FlowKey> flow_keys() override;
  std::vector<core::UrlGroup> url_groups() override;
  std::vector<std::pair<core::TenantId, core::Counters>> counters() override;

  std::optional<core::Schedule> schedule(core::TenantId tenant, std::string_view id) override;
  std::optional<core::ScheduleState> schedule_state(core::TenantId tenant,
                                                    std::string_view id) override;
  std::vector<core::ScheduleDue> next_schedules(std::size_t limit) override;

  std::vector<core::UrlGroup> url_groups(core::TenantId tenant) override;
  std::optional<core::UrlGroup> url_group(core::TenantId tenant, std::string_view name) override;
  std::vector<core::Queue> queues(core::TenantId tenant) override;
  std::optional<core::Queue> queue(core::TenantId tenant, std::string_view name) override;
  std::optional<core::FlowKey> flow_key(core::TenantId tenant, std::string_view key) override;
  std::vector<core::Schedule> schedules(core::TenantId tenant, std::string_view after,
                                        std::size_t limit) override;
  std::optional<core::Document> document(core::TenantId tenant, std::string_view kind,
                                         std::string_view name) override;
  std::vector<core::Document> documents(core::TenantId tenant, std::string_view kind,
                                        std::string_view after, std::size_t limit) override;

  std::vector<core::DeadLetterKey> dead_letters(core::TenantId tenant,
                                                std::optional<core::DeadLetterKey> after,
                                                bool latest_first, std::size_t limit) override;
  std::vector<core::AppendEvents> events(core::TenantId tenant, Moment from, Moment to,
                                         std::optional<std::pair<Moment, std::uint64_t>> after,
                                         bool latest_first, std::size_t limit) override;

 private:
  std::optional<std::string> get(Table table, std::string_view key);
  std::vector<Entry> scan(Table table, std::string_view from, std::string_view to,
                          std::size_t limit, bool reverse = false);
  /// Every entry of a table, in bounded pieces.
  template <class Each>
  void for_each(Table table, Each each, std::string from = {}, const std::string& to = {});
  /// The entries of a table whose keys are tenant | name, decoded; all tenants' without one.
  template <class Decode>
  auto named(Table table, std::optional<core::TenantId> tenant, Decode decode);
  template <class Decode>
  auto get_named(Table table, core::TenantId tenant, std::string_view name, Decode decode);

  const std::shared_ptr<store::Reader> snapshot_;
};

}  // namespace hk::store
