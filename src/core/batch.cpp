#include "core/batch.h"

#include <algorithm>

#include "base/assert.h"

namespace hk::core {

void Batch::begin(Moment now, std::uint64_t number, Reader& reader) {
  HK_ASSERT(mutations_.empty() && effects_.empty() && events_.empty() && expiries_.empty());
  HK_ASSERT(now >= now_);
  HK_ASSERT(number > number_);
  now_ = now;
  number_ = number;
  reader_ = &reader;
}

std::shared_ptr<const Message> Batch::message(Seq seq) {
  if (const auto found = messages_.find(seq); found != messages_.end()) {
    return found->second;
  }
  return reader_->message(seq);
}

std::optional<MessageState> Batch::state(Seq seq) {
  if (const auto found = states_.find(seq); found != states_.end()) {
    const std::optional<std::size_t>& put = found->second;
    return put ? std::optional(std::get<PutState>(mutations_[*put]).state) : std::nullopt;
  }
  return reader_->state(seq);
}

std::optional<Dedup> Batch::dedup(TenantId tenant, const std::string& id) {
  if (const auto found = dedups_.find({tenant, id}); found != dedups_.end()) {
    return found->second;
  }
  return reader_->dedup(tenant, id);
}

bool Batch::has_dead_letter(const DeadLetterKey& key) {
  if (const auto found = dead_letters_.find(key); found != dead_letters_.end()) {
    return found->second;
  }
  return reader_->has_dead_letter(key);
}

std::optional<Schedule> Batch::schedule(TenantId tenant, const std::string& id) {
  if (const auto found = schedules_.find({tenant, id}); found != schedules_.end()) {
    return found->second;
  }
  return reader_->schedule(tenant, id);
}

std::optional<ScheduleState> Batch::schedule_state(TenantId tenant, const std::string& id) {
  if (const auto found = schedule_states_.find({tenant, id}); found != schedule_states_.end()) {
    return found->second;
  }
  return reader_->schedule_state(tenant, id);
}

void Batch::put_message(std::shared_ptr<const Message> message) {
  body_bytes_ += message->body.size();
  messages_[message->id.seq] = message;
  mutations_.emplace_back(PutMessage{std::move(message)});
}

void Batch::put_state(Seq seq, MessageState state) {
  states_[seq] = mutations_.size();
  mutations_.emplace_back(PutState{seq, std::move(state)});
}

void Batch::put_dedup(TenantId tenant, const std::string& id, const Dedup& dedup) {
  dedups_[{tenant, id}] = dedup;
  mutations_.emplace_back(PutDedup{tenant, id, dedup});
}

void Batch::delete_dedup(TenantId tenant, const std::string& id) {
  dedups_[{tenant, id}] = std::nullopt;
  mutations_.emplace_back(DeleteDedup{tenant, id});
}

void Batch::put_dead_letter(const DeadLetterKey& key) {
  dead_letters_[key] = true;
  mutations_.emplace_back(PutDeadLetter{key});
}

void Batch::delete_dead_letter(const DeadLetterKey& key) {
  dead_letters_[key] = false;
  mutations_.emplace_back(DeleteDeadLetter{key});
}

void Batch::purge_message(Seq seq, bool has_attempts) {
  messages_[seq] = nullptr;
  states_[seq] = std::nullopt;
  mutations_.emplace_back(PurgeMessage{seq, has_attempts});
}

void Batch::put_schedule(Schedule schedule) {
  schedules_[{schedule.tenant, schedule.id}] = schedule;
  mutations_.emplace_back(PutSchedule{std::move(schedule)});
}

void Batch::put_schedule_state(TenantId tenant, const std::string& id, ScheduleState state,
                               Moment previous_next_at) {
  earliest_run_ = std::min(earliest_run_, state.next_at);
  schedule_states_[{tenant, id}] = state;
  mutations_.emplace_back(PutScheduleState{tenant, id, std::move(state), previous_next_at});
}

void Batch::delete_schedule(TenantId tenant, const std::string& id, Moment next_at) {
  schedules_[{tenant, id}] = std::nullopt;
  schedule_states_[{tenant, id}] = std::nullopt;
  mutations_.emplace_back(DeleteSchedule{tenant, id, next_at});
}

std::optional<Document> Batch::document(TenantId tenant, const std::string& kind,
                                        const std::string& name) {
  const auto found = documents_.find({tenant, kind, name});
  return found != documents_.end() ? found->second : reader_->document(tenant, kind, name);
}

void Batch::put_document(Document document) {
  documents_[{document.tenant, document.kind, document.name}] = document;
  mutations_.emplace_back(PutDocument{std::move(document)});
}

void Batch::delete_document(TenantId tenant, const std::string& kind, const std::string& name) {
  documents_[{tenant, kind, name}] = std::nullopt;
  mutations_.emplace_back(DeleteDocument{tenant, kind, name});
}

void Batch::event(TenantId tenant, Seq seq, EventKind kind, std::uint32_t attempt) {
  events_[tenant].push_back({seq, kind, attempt});
}

PutExpiry& Batch::expiry(Moment at) {
  // Whole seconds, rounded up: nothing is forgotten early, and a batch writes few records.
  const Moment rounded{std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch())};
  PutExpiry& record = expiries_[rounded];
  record.at = rounded;
  record.batch = number_;
  return record;
}

void Batch::expire_message(Moment at, Seq seq) { expiry(at).messages.push_back(seq); }

void Batch::expire_dedup(Moment at, TenantId tenant, const std::string& id) {
  expiry(at).dedups.emplace_back(tenant, id);
}

Batch::Output Batch::take() {
  for (auto& [tenant, events] : events_) {
    mutations_.emplace_back(AppendEvents{tenant, now_, number_, std::move(events)});
  }
  for (auto& [at, record] : expiries_) {
    mutations_.emplace_back(std::move(record));
  }
  const std::size_t usual = mutations_.size();
  Output output{std::move(mutations_), std::move(effects_)};
  mutations_.clear();
  mutations_.reserve(usual);  // the next batch is about as large: growing would move all of them
  effects_.clear();
  events_.clear();
  expiries_.clear();
  messages_.clear();
  states_.clear();
  dedups_.clear();
  dead_letters_.clear();
  schedules_.clear();
  documents_.clear();
  schedule_states_.clear();
  earliest_run_ = never;
  body_bytes_ = 0;
  return output;
}

}  // namespace hk::core
