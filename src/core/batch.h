/// What one batch has decided so far: the mutations, in order, and the view of them that later
/// commands of the same batch need (the store shows only earlier batches). Events, expiries and
/// counters are gathered and written once per batch, not once per message.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/effect.h"
#include "core/mutation.h"
#include "core/reader.h"

namespace hk::core {

class Batch {
 public:
  /// A new batch begins. The reader shows every earlier one.
  void begin(Moment now, std::uint64_t number, Reader& reader);

  [[nodiscard]] Moment now() const { return now_; }

  // ---- what is true at this point of the batch ----
  std::shared_ptr<const Message> message(Seq seq);
  std::optional<MessageState> state(Seq seq);
  std::optional<Dedup> dedup(TenantId tenant, const std::string& id);
  bool has_dead_letter(const DeadLetterKey& key);
  std::optional<Schedule> schedule(TenantId tenant, const std::string& id);
  std::optional<ScheduleState> schedule_state(TenantId tenant, const std::string& id);
  std::optional<Document> document(TenantId tenant, const std::string& kind,
                                   const std::string& name);
  /// The earliest run of the schedules that this batch has put so far.
  [[nodiscard]] Moment earliest_run() const { return earliest_run_; }
  Reader& reader() { return *reader_; }

  // ---- what is decided ----
  void put_message(std::shared_ptr<const Message> message);
  void put_state(Seq seq, MessageState state);
  void put_dedup(TenantId tenant, const std::string& id, const Dedup& dedup);
  void delete_dedup(TenantId tenant, const std::string& id);
  void put_dead_letter(const DeadLetterKey& key);
  void delete_dead_letter(const DeadLetterKey& key);
  void purge_message(Seq seq, bool has_attempts);
  void put_schedule(Schedule schedule);
  void put_schedule_state(TenantId tenant, const std::string& id, ScheduleState state,
                          Moment previous_next_at);
  void delete_schedule(TenantId tenant, const std::string& id, Moment next_at);
  void put_document(Document document);
  void delete_document(TenantId tenant, const std::string& kind, const std::string& name);
  /// Everything that nothing later in the batch has to see.
  void put(Mutation mutation) { mutations_.push_back(std::move(mutation)); }
  void event(TenantId tenant, Seq seq, EventKind kind, std::uint32_t attempt = 0);
  void expire_message(Moment at, Seq seq);
  void expire_dedup(Moment at, TenantId tenant, const std::string& id);
  void effect(Effect effect) { effects_.push_back(std::move(effect)); }

  /// Of the messages that it writes.
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }
  [[nodiscard]] bool has_mutations() const { return !mutations_.empty() || !events_.empty(); }

  struct Output {
    std::vector<Mutation> mutations{};
    std::vector<Effect> effects{};
  };
  /// Ends the batch.
  Output take();

 private:
  PutExpiry& expiry(Moment at);

  Moment now_{};
  std::uint64_t number_ = 0;
  Reader* reader_ = nullptr;
  std::vector<Mutation> mutations_;
  std::vector<Effect> effects_;
  std::map<TenantId, std::vector<EventRef>> events_;
  std::map<Moment, PutExpiry> expiries_;
  // Only these are read back within a batch.
  std::unordered_map<Seq, std::shared_ptr<const Message>> messages_;
  /// Which of the mutations puts it; none: it was purged.
  std::unordered_map<Seq, std::optional<std::size_t>> states_;
  std::map<std::pair<TenantId, std::string>, std::optional<Dedup>> dedups_;
  std::map<DeadLetterKey, bool> dead_letters_;
  std::map<std::pair<TenantId, std::string>, std::optional<Schedule>> schedules_;
  std::map<std::pair<TenantId, std::string>, std::optional<ScheduleState>> schedule_states_;
  Moment earliest_run_{never};
  std::size_t body_bytes_ = 0;
  std::map<std::tuple<TenantId, std::string, std::string>, std::optional<Document>> documents_;
};

}  // namespace hk::core
