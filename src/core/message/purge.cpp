// What is final was kept for long enough, and so were dedup ids.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/tenant/tenants.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(message_purged)
HK_SOMETIMES_DECLARE(dead_letter_purged)
HK_SOMETIMES_DECLARE(dedup_purged)

namespace hk::core {

namespace {
/// What a batch may name of what expires, so that commands do not wait for long behind a purge; a
/// record is not cut in two.
constexpr std::size_t purges_per_batch = 512;
}  // namespace

void Messages::purge_expired() {
  const Moment now = batch_.now();
  if (now < next_expiry_check_) {
    return;
  }
  const auto due =
      batch_.reader().scan(Range<Expiry>().before(now + Millis{1}), limits_.expiries_per_batch);
  next_expiry_check_ = due.size() == limits_.expiries_per_batch ? now : now + limits_.expiry_poll;
  std::size_t looked_at = 0;
  for (const Expiry& record : due) {
    if (looked_at >= purges_per_batch) {
      next_expiry_check_ = now;
      return;
    }
    // A number must not be used twice: the mark that remembers it is written with the purge at the
    // latest.
    const bool too_young =
        std::any_of(record.messages.begin(), record.messages.end(),
                    [this](Seq seq) { return seq > context_.progress.indexed_up_to(); });
    if (too_young) {
      next_expiry_check_ = now + limits_.index_after;
      continue;
    }
    looked_at +=
        record.messages.size() + record.dedups.size() + record.keys.size() + record.events.size();
    context_.progress.write_now();
    for (const Seq seq : record.messages) {
      const auto state = batch_.get<MessageState>(seq);
      if (!state) {
        pulls_.expire(seq);
        continue;
      }
      // A dead letter that was retried or deleted meanwhile has a later record of its own.
      if (!is_final(state->status) || state->expires_at > now) {
        continue;
      }
      // It still holds its slot. Its last callback asks for the purge again.
      if (state->callbacks_open > 0) {
        continue;
      }
      const auto message = batch_.get<Message>(seq);
      HK_ASSERT(message != nullptr);
      HK_SOMETIMES(message_purged);
      Counters& counts = tenants_.counters(message->tenant);
      if (state->in_dlq) {
        HK_SOMETIMES(dead_letter_purged);
        HK_ASSERT(counts.dead_letters > 0);
        --counts.dead_letters;
        batch_.erase<DeadLetterKey>(message->tenant, state->finished_at, seq);
      }
      ++counts.purged;
      if (message->webhook) {
        webhooks_.purge_delivery(*message, *state);
      }
      batch_.purge_message(seq, state->attempts > 1);
    }
    for (const auto& [tenant, id] : record.dedups) {
      const auto dedup = batch_.get<Dedup>({tenant, id});
      if (dedup && dedup->expires_at <= now) {
        HK_SOMETIMES(dedup_purged);
        batch_.erase<Dedup>(tenant, id);
      }
    }
    for (const auto& [tenant, id] : record.keys) {
      idempotency_keys_.forget_if_over(tenant, id);
    }
    for (const auto& [tenant, application, number] : record.events) {
      webhooks_.expire_event(tenant, application, number);
    }
    batch_.put(Erase<Expiry>{record.at, record.batch});
  }
}

}  // namespace hk::core
