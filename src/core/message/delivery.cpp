// Deliveries of webhooks that end otherwise than by an attempt of their own.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/tenant/tenants.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(delivery_settled_while_running)
HK_SOMETIMES_DECLARE(delivery_settled_while_waiting)
HK_SOMETIMES_DECLARE(delivery_settled_after_its_end)
HK_SOMETIMES_DECLARE(halted_delivery_given_up)

namespace hk::core {

void Messages::cancel_delivery(Seq seq, CancelReason reason) {
  const auto message = batch_.get<Message>(seq);
  if (message == nullptr) {
    return;
  }
  HK_ASSERT(message->webhook.has_value());
  MessageState state =
      batch_.get<MessageState>(seq).value_or(MessageState{.due = message->not_before});
  if (is_final(state.status) || state.cancel_requested) {
    return;
  }
  state.cancel_reason = reason;
  cancel(seq, lane_of(*message), std::move(state), Why::asked);
}

void Messages::give_up_halted(Seq seq) {
  Live* const live = lanes_.find(seq);
  if (live == nullptr || live->leased || live->not_before != never) {
    return;
  }
  HK_SOMETIMES(halted_delivery_given_up);
  MessageState state = state_of(*live);
  lanes_.unindex(*live);
  retire(seq, live->lane->key, state, Status::failed);
  batch_.put(Put<MessageState>{seq, std::move(state)});
  scheduler_.remove(*live, batch_.now());
  lanes_.forget(*live);
}

void Messages::end_unsent(Live& live, CancelReason reason) {
  scheduler_.release(live, batch_.now());
  MessageState state = state_of(live);
  state.cancel_reason = reason;
  finish(live, std::move(state), Status::canceled);
}

void Messages::put_back(Live& live) {
  const bool ended = lanes_.end_lease(live);
  HK_ASSERT(ended);
  scheduler_.release(live, batch_.now());
  MessageState state = state_of(live);
  if (live.cancel_requested) {
    finish(live, std::move(state), Status::canceled);
    return;
  }
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr);
  const Millis rest = webhooks_.attempt_not_made(*message);
  plan_retry(live, *message, std::move(state), rest);
}

void Messages::settle_delivery(Seq seq) {
  const auto message = batch_.get<Message>(seq);
  if (message == nullptr) {
    return;  // kept long enough
  }
  MessageState state =
      batch_.get<MessageState>(seq).value_or(MessageState{.due = message->not_before});
  if (state.status == Status::succeeded) {
    return;
  }
  if (is_final(state.status)) {
    HK_SOMETIMES(delivery_settled_after_its_end);
    Counters& counts = tenants_.counters(message->tenant);
    --(state.status == Status::failed ? counts.failed : counts.canceled);
    ++counts.succeeded;
    if (state.in_dlq) {
      batch_.erase<DeadLetterKey>(message->tenant, state.finished_at, seq);
      --counts.dead_letters;
      state.in_dlq = false;
    }
    state.status = Status::succeeded;
    state.cancel_reason = CancelReason::none;
    state.finished_at = batch_.now();
    state.expires_at = batch_.now() + limits_.retention_webhooks;
    batch_.expire_message(state.expires_at, seq);
    batch_.event(message->tenant, seq, EventKind::delivered, state.attempts);
    batch_.put(Put<MessageState>{seq, std::move(state)});
    return;
  }
  batch_.event(message->tenant, seq, EventKind::delivered, state.attempts);
  Live* const live = lanes_.find(seq);
  if (live == nullptr) {
    const LaneKey lane = lane_of(*message);
    batch_.put(Erase<LaneRow>{lane, LanePlace{lane.ordered() ? Moment{} : state.due, seq}});
    retire(seq, lane, state, Status::succeeded);
    batch_.put(Put<MessageState>{seq, std::move(state)});
    return;
  }
  if (live->leased) {
    HK_SOMETIMES(delivery_settled_while_running);
    const bool ended = lanes_.end_lease(*live);
    HK_ASSERT(ended);
    scheduler_.release(*live, batch_.now());
    finish(*live, std::move(state), Status::succeeded);
    return;
  }
  HK_SOMETIMES(delivery_settled_while_waiting);
  lanes_.unindex(*live);
  retire(seq, live->lane->key, state, Status::succeeded);
  batch_.put(Put<MessageState>{seq, std::move(state)});
  scheduler_.remove(*live, batch_.now());
  lanes_.forget(*live);
}

}  // namespace hk::core
