#include "core/batch.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace hk::core {

void Batch::begin(Moment now, std::uint64_t number, Reader& reader) {
  HK_ASSERT(mutations_.empty() && effects_.empty() && late_.empty());
  HK_ASSERT(events_.empty() && expiries_.empty());
  HK_ASSERT(now >= now_);
  HK_ASSERT(number > number_);
  now_ = now;
  number_ = number;
  reader_ = &reader;
}

void Batch::put_message(std::shared_ptr<const Message> message) {
  body_bytes_ += message->body.size();
  put(Put<Message>{std::move(message)});
}

void Batch::purge_message(Seq seq, bool has_attempts) {
  erase<Message>(seq);
  erase<MessageState>(seq);
  if (has_attempts) {
    // Every attempt of this message and no other's: numbers stay far below the largest.
    put(EraseRange<Attempt>{
        Range<Attempt>().from(seq, 0U).before(seq, std::numeric_limits<std::uint32_t>::max())});
  }
}

void Batch::event(TenantId tenant, Seq seq, EventKind kind, std::uint32_t attempt) {
  events_[tenant].push_back({seq, kind, attempt});
}

Expiry& Batch::expiry(Moment at) {
  // Whole seconds, rounded up: nothing is forgotten early, and a batch writes few records.
  const Moment rounded{std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch())};
  Expiry& record = expiries_[rounded];
  record.at = rounded;
  record.batch = number_;
  return record;
}

void Batch::expire_message(Moment at, Seq seq) { expiry(at).messages.push_back(seq); }

void Batch::expire_dedup(Moment at, TenantId tenant, const std::string& id) {
  expiry(at).dedups.emplace_back(tenant, id);
}

void Batch::expire_key(Moment at, TenantId tenant, std::string id) {
  expiry(at).keys.emplace_back(tenant, std::move(id));
}

void Batch::expire_event(Moment at, TenantId tenant, std::uint64_t application,
                         std::uint64_t number) {
  expiry(at).events.emplace_back(tenant, application, number);
}

Batch::Output Batch::take() {
  for (auto& [tenant, events] : events_) {
    put(Put<Events>{{tenant, now_, number_, std::move(events)}});
  }
  for (auto& [at, record] : expiries_) {
    put(Put<Expiry>{std::move(record)});
  }
  const std::size_t usual = mutations_.size();
  Output output{std::move(mutations_), std::move(effects_), std::move(late_)};
  mutations_.clear();
  mutations_.reserve(usual);  // the next batch is about as large: growing would move all of them
  effects_.clear();
  late_.clear();
  events_.clear();
  expiries_.clear();
  std::apply([](auto&... changes) { (changes.clear(), ...); }, changes_);
  body_bytes_ = 0;
  return output;
}

}  // namespace hk::core
