// From one queue into another, in one batch: it is never in both and never in neither.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"

HK_SOMETIMES_DECLARE(moved_to_dead_letter_queue)

namespace hk::core {

/// Its receivers know it by the id that it had first. REQUIRES: leased.
void Pulls::move_to(const Queue& target, Live& live, const Queue& source, Attempt last) {
  HK_SOMETIMES(moved_to_dead_letter_queue);
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr && message->pull);
  auto moved = std::make_shared<Message>(*message);
  PullPart& part = *moved->pull;
  part.fifo = target.pull->fifo;
  if (part.first_id.seq == Seq{}) {
    part.first_id = message->id;
  }
  part.moved_from = source.name;
  part.receives_before += live.attempts;
  if (part.first_received_at == Moment{}) {
    part.first_received_at = live.first_received_at;
  }
  if (part.fifo) {
    part.sent_at = batch_.now();
  }
  moved->queue = target.name;
  moved->not_before = Moment{};
  moved->dedup_id.clear();  // two dead letters with one id both arrive
  finish(live, Status::failed, {}, std::move(last));
  messages_.accept(std::move(moved));
}

}  // namespace hk::core
