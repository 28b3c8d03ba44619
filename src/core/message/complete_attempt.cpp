#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"
#include "core/retry/retry_policy.h"
#include "core/tenant/tenants.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(late_outcome_refused)
HK_SOMETIMES_DECLARE(message_dead_lettered)
HK_SOMETIMES_DECLARE(message_gave_up_at_once)
HK_SOMETIMES_DECLARE(message_retried)
HK_SOMETIMES_DECLARE(canceled_while_running)

namespace hk::core {

Live* Messages::find_pushed(Seq seq, const Fence& fence) {
  Live* const live = lanes_.find(seq);
  const bool held = live != nullptr && live->leased && live->fence == fence &&
                    (live->pull == nullptr || live->push != nullptr);
  return held ? live : nullptr;
}

/// Only the holder of the current lease is listened to: a report that comes after the lease ran
/// out, or from before a restart, changes nothing.
Reply Messages::decide(CompleteAttempt command) {
  Live* const live = find_pushed(command.id.seq, command.fence);
  if (live == nullptr) {
    HK_SOMETIMES(late_outcome_refused);
    return fail(ErrorKind::conflict,
                "the lease of this attempt is over; its outcome is not recorded");
  }
  if (live->push != nullptr) {
    if (command.delivered) {
      pulls_.finish(*live, Status::succeeded);
    } else {
      pulls_.try_again(*live, command.retry_after);
    }
    return Done{};
  }
  if (command.not_made && webhook::is_ours(live->lane->key)) {
    put_back(*live);
    return Done{};
  }
  command.attempt.fence = command.fence;
  command.attempt.started_at = live->started_at;
  if (command.attempt.ended_at < live->started_at || command.attempt.ended_at > batch_.now()) {
    command.attempt.ended_at = batch_.now();
  }
  end_attempt(*live, std::move(command.attempt), command.delivered, command.give_up,
              command.retry_after, command.timed_out);
  return Done{};
}

MessageState Messages::state_of(const Live& live) {
  // Without an attempt or a cancel behind it the message has no state record yet.
  if (live.attempts == 0 && !live.cancel_requested) {
    return {};
  }
  auto stored = batch_.get<MessageState>(live.seq);
  HK_ASSERT(stored.has_value());
  return std::move(*stored);
}

void Messages::end_attempt(Live& live, Attempt attempt, bool delivered, bool give_up,
                           std::optional<Millis> retry_after, bool timed_out) {
  HK_ASSERT(live.leased);
  HK_ASSERT(attempt.fence == live.fence);
  const bool ended = lanes_.end_lease(live);
  HK_ASSERT(ended);
  scheduler_.release(live, batch_.now());

  const Seq seq = live.seq;
  const TenantId tenant = live.lane->key.tenant;
  MessageState state = state_of(live);
  if (state.last) {
    const std::uint32_t number = state.last->fence.attempt;
    batch_.put(Put<Attempt>{{{seq, number}, std::move(*state.last)}});
  }
  live.attempts = attempt.fence.attempt;
  state.attempts = attempt.fence.attempt;
  state.last = std::move(attempt);
  ++tenants_.counters(tenant).attempts;

  batch_.event(tenant, seq, delivered ? EventKind::delivered : EventKind::error, state.attempts);
  tell_of_attempt(live, state);
  std::shared_ptr<const Message> message;
  webhook::Webhooks::Verdict verdict;
  if (webhook::is_ours(live.lane->key)) {
    message = batch_.get<Message>(seq);
    HK_ASSERT(message != nullptr);
    verdict = webhooks_.attempt_ended(*message, *state.last,
                                      {.delivered = delivered,
                                       .give_up = give_up,
                                       .retry_after = retry_after,
                                       .timed_out = timed_out});
  }
  if (delivered) {
    finish(live, std::move(state), Status::succeeded);
    return;
  }
  if (live.cancel_requested) {
    HK_SOMETIMES(canceled_while_running);
    finish(live, std::move(state), Status::canceled);
    return;
  }
  if (message != nullptr) {
    if (verdict.next != webhook::Webhooks::Verdict::Next::try_again) {
      const bool canceled = verdict.next == webhook::Webhooks::Verdict::Next::cancel;
      state.cancel_reason = canceled ? verdict.reason : CancelReason::none;
      finish(live, std::move(state), canceled ? Status::canceled : Status::failed);
      return;
    }
    plan_retry(live, *message, std::move(state), verdict.delay);
    return;
  }
  message = batch_.get<Message>(seq);
  HK_ASSERT(message != nullptr);
  if (give_up || state.attempts > message->retry.retries_max) {
    if (give_up) {
      HK_SOMETIMES(message_gave_up_at_once);
    }
    finish(live, std::move(state), Status::failed);
    return;
  }
  const Millis delay = retry_delay(message->retry, state.attempts, retry_after, context_.rng);
  plan_retry(live, *message, std::move(state), delay);
}

void Messages::finish(Live& live, MessageState state, Status status) {
  const Seq seq = live.seq;
  retire(seq, live.lane->key, state, status);
  if (state.in_dlq) {
    tell_of_failure(live, state);
  }
  cut_answer(live, state);
  const bool held = state.callbacks_open > 0;
  batch_.put(Put<MessageState>{seq, std::move(state)});
  if (held) {
    hold_for_callbacks(live);
    return;
  }
  lanes_.unindex(live);
  scheduler_.finish(live, batch_.now());
  lanes_.forget(live);
}

/// What a message's end means for its record, its queue, its tenant's counters and its retention.
void Messages::retire(Seq seq, const LaneKey& lane, MessageState& state, Status status) {
  HK_ASSERT(is_final(status) && !is_final(state.status));
  const Moment now = batch_.now();
  const TenantId tenant = lane.tenant;
  const bool is_webhook = webhook::is_ours(lane);
  const auto delivery = is_webhook ? batch_.get<Message>(seq) : nullptr;
  if (!lane.queue.empty() && !is_webhook) {
    pulls_.retired(seq, lane);
    queues_.leave(seq, lane);
  }
  state.status = status;
  state.finished_at = now;
  state.expires_at = now + (is_webhook ? limits_.retention_webhooks : limits_.retention_finished);
  if (status != Status::canceled) {
    state.cancel_reason = CancelReason::none;
  }
  Counters& counts = tenants_.counters(tenant);
  HK_ASSERT(counts.pending > 0);
  --counts.pending;
  if (status == Status::succeeded) {
    ++counts.succeeded;
  } else if (status == Status::canceled) {
    ++counts.canceled;
    state.callbacks_open = 0;  // a cancel frees the slot at once
    batch_.event(tenant, seq, EventKind::canceled);
  } else if (lane.is_pulled() || (is_webhook && delivery->webhook->settles.seq != Seq{})) {
    // What became of it is in another queue; an attempt by hand is no delivery of its own.
    ++counts.failed;
    batch_.event(tenant, seq, EventKind::failed, state.attempts);
  } else {
    HK_SOMETIMES(message_dead_lettered);
    ++counts.failed;
    ++counts.dead_letters;
    state.in_dlq = true;
    if (!is_webhook) {
      state.expires_at = limits_.retention_dlq.count() == 0 ? never : now + limits_.retention_dlq;
    }
    batch_.put(Put<DeadLetterKey>{{tenant, now, seq}});
    batch_.event(tenant, seq, EventKind::failed, state.attempts);
  }
  if (state.expires_at != never) {
    batch_.expire_message(state.expires_at, seq);
  }
  HK_ASSERT(counts.conserved());
  const Live* live = lanes_.find(seq);
  if (live == nullptr || live->callbacks != Live::Callbacks::none) {
    callback_ended(seq);
  }
  if (is_webhook) {
    webhooks_.delivery_ended(*delivery, state);
  }
}

void Messages::plan_retry(Live& live, const Message& message, MessageState state, Millis delay) {
  HK_SOMETIMES(message_retried);
  HK_ASSERT(delay >= Millis{0});
  live.not_before = batch_.now() + delay;
  if (live.lane->ordered()) {
    live.indexed = false;  // it keeps its place: the entry is written over
  } else {
    lanes_.unindex(live);
    live.place.due = live.not_before;
  }
  state.status = Status::pending;
  state.due = live.not_before;
  batch_.event(message.tenant, live.seq, EventKind::retry, state.attempts);
  cut_answer(live, state);
  batch_.put(Put<MessageState>{live.seq, std::move(state)});
  lanes_.index(live);  // a retry outlives its first moments by definition
  lanes_.wait(live);
}

}  // namespace hk::core
