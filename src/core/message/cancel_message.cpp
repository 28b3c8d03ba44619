#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/webhook/gate_name.h"

HK_SOMETIMES_DECLARE(cancel_of_running_message)
HK_SOMETIMES_DECLARE(cancel_of_message_beyond_the_window)
HK_SOMETIMES_DECLARE(cancel_leaves_alone_what_qstash_did_not_make)

namespace hk::core {

/// Once this is answered no new attempt starts, not after a crash either: the wish is stored. An
/// attempt that is on the wire may still land, and then counts as delivered.
Reply Messages::decide(const CancelMessage& command) {
  const auto message = find(command.tenant, command.id);
  if (message == nullptr) {
    return fail(ErrorKind::not_found, "no message " + to_text(command.id));
  }
  if (command.unnamed && !made_by_qstash(*message)) {
    HK_SOMETIMES(cancel_leaves_alone_what_qstash_did_not_make);
    return fail(ErrorKind::not_found,
                "message " + to_text(command.id) + " was not made by the QStash API");
  }
  const Seq seq = command.id.seq;
  MessageState state =
      batch_.get<MessageState>(seq).value_or(MessageState{.due = message->not_before});
  if (is_final(state.status)) {
    return fail(ErrorKind::not_found, "message " + to_text(command.id) + " is already finished");
  }
  if (state.cancel_requested) {
    return fail(ErrorKind::not_found,
                "message " + to_text(command.id) + " is already being cancelled");
  }
  return Canceled{.running = cancel(seq, lane_of(*message), std::move(state), Why::asked)};
}

bool Messages::cancel_unless_over(const Message& message) {
  const Seq seq = message.id.seq;
  MessageState state =
      batch_.get<MessageState>(seq).value_or(MessageState{.due = message.not_before});
  if (is_final(state.status) || state.cancel_requested) {
    return false;
  }
  cancel(seq, lane_of(message), std::move(state), Why::asked);
  return true;
}

bool Messages::cancel(Seq seq, const LaneKey& lane, MessageState state, Why why) {
  // Of one that is pulled its receiver is told whether somebody wished it away.
  state.cancel_requested = why == Why::asked || !lane.is_pulled();
  state.cancel_requested_at = batch_.now();
  if (webhook::is_ours(lane) && state.cancel_reason == CancelReason::none) {
    state.cancel_reason = CancelReason::canceled;
  }
  batch_.event(lane.tenant, seq, EventKind::cancel_requested);

  Live* live = lanes_.find(seq);
  if (live != nullptr && live->leased && live->lane->pull != nullptr) {
    // Its receiver learns of it when it next asks.
    pulls_.finish(*live, Status::canceled, std::move(state));
    return false;
  }
  if (live != nullptr && live->leased) {
    HK_SOMETIMES(cancel_of_running_message);
    live->cancel_requested = true;
    batch_.put(Put<MessageState>{seq, std::move(state)});
    lanes_.index_again(*live);  // with the wish in it
    return true;
  }

  if (live != nullptr) {
    cancel_waiting(*live, std::move(state));
    return false;
  }

  // It waits in the index only: beyond its lane's window.
  HK_SOMETIMES(cancel_of_message_beyond_the_window);
  batch_.put(Erase<LaneRow>{lane, LanePlace{lane.ordered() ? Moment{} : state.due, seq}});
  retire(seq, lane, state, Status::canceled);
  batch_.put(Put<MessageState>{seq, std::move(state)});
  return false;
}

void Messages::cancel_waiting(Live& live, MessageState state) {
  lanes_.unindex(live);
  retire(live.seq, live.lane->key, state, Status::canceled);
  batch_.put(Put<MessageState>{live.seq, std::move(state)});
  scheduler_.remove(live, batch_.now());
  lanes_.forget(live);
}

}  // namespace hk::core
