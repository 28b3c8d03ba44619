/// How the rules read what is stored: typed, by key, in bounded pieces. It shows every batch
/// written so far (also those not yet synced); what the current batch has changed is the core's own
/// to know. Implemented by store/typed_reader.h over any store. A broken record is reported by
/// throwing CorruptRecord: nothing is decided on data that is not what was written.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/mutation.h"

namespace hk::core {

struct CorruptRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct LaneRow {
  LaneKey lane{};
  LaneEntry entry{};
};

class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  virtual std::shared_ptr<const Message> message(Seq seq) = 0;  ///< null: no such message
  virtual std::optional<MessageState> state(Seq seq) = 0;
  virtual std::vector<Attempt> attempts(Seq seq) = 0;  ///< all but the last, oldest first
  virtual std::optional<Dedup> dedup(TenantId tenant, std::string_view id) = 0;
  virtual bool has_dead_letter(const DeadLetterKey& key) = 0;

  /// Entries of the lane with place > after, in order.
  virtual std::vector<LaneEntry> lane_entries(const LaneKey& lane, std::optional<LanePlace> after,
                                              std::size_t limit) = 0;
  /// Entries of all lanes whose key is > after, lane by lane, in order.
  virtual std::vector<LaneRow> lane_rows(const std::optional<LaneKey>& after,
                                         std::size_t limit) = 0;
  /// The first lane that has entries and whose key is > after.
  std::optional<LaneKey> next_lane(const std::optional<LaneKey>& after) {
    auto first = lane_rows(after, 1);
    return first.empty() ? std::nullopt : std::optional(std::move(first.front().lane));
  }
  /// Messages with seq > after, in order of acceptance.
  virtual std::vector<std::shared_ptr<const Message>> messages_after(Seq after,
                                                                     std::size_t limit) = 0;
  virtual Seq last_seq() = 0;

  virtual std::vector<PutExpiry> expiries_until(Moment now, std::size_t limit) = 0;
  virtual std::optional<Meta> meta() = 0;
  virtual std::vector<Tenant> tenants() = 0;
  virtual std::vector<Queue> queues() = 0;
  virtual std::vector<FlowKey> flow_keys() = 0;
  virtual std::vector<UrlGroup> url_groups() = 0;
  virtual std::vector<std::pair<TenantId, Counters>> counters() = 0;

  virtual std::optional<Schedule> schedule(TenantId tenant, std::string_view id) = 0;
  virtual std::optional<ScheduleState> schedule_state(TenantId tenant, std::string_view id) = 0;
  /// The earliest runs, in order.
  virtual std::vector<ScheduleDue> next_schedules(std::size_t limit) = 0;

  // ---- for listings, on edge threads ----

  virtual std::vector<UrlGroup> url_groups(TenantId tenant) = 0;
  virtual std::optional<UrlGroup> url_group(TenantId tenant, std::string_view name) = 0;
  virtual std::vector<Queue> queues(TenantId tenant) = 0;
  virtual std::optional<Queue> queue(TenantId tenant, std::string_view name) = 0;
  virtual std::optional<FlowKey> flow_key(TenantId tenant, std::string_view key) = 0;
  virtual std::optional<Document> document(TenantId tenant, std::string_view kind,
                                           std::string_view name) = 0;
  /// Documents of the tenant and kind with name > after, in the order of their names.
  virtual std::vector<Document> documents(TenantId tenant, std::string_view kind,
                                          std::string_view after, std::size_t limit) = 0;
  /// Schedules of the tenant with id > after, in the order of their ids.
  virtual std::vector<Schedule> schedules(TenantId tenant, std::string_view after,
                                          std::size_t limit) = 0;

  /// Dead letters of the tenant; `after` exclusive, in the direction asked for.
  virtual std::vector<DeadLetterKey> dead_letters(TenantId tenant,
                                                  std::optional<DeadLetterKey> after,
                                                  bool latest_first, std::size_t limit) = 0;
  /// Event batches of the tenant with time in [from, to], starting after (exclusive) the batch
  /// `after`, in the direction asked for.
  virtual std::vector<AppendEvents> events(TenantId tenant, Moment from, Moment to,
                                           std::optional<std::pair<Moment, std::uint64_t>> after,
                                           bool latest_first, std::size_t limit) = 0;
};

}  // namespace hk::core
