// A changed queue concerns the messages that it has: a shorter retention ends them earlier, and the
// delay of a FIFO queue is that of all who still wait for it. The index is walked once, a bounded
// number of messages per batch. The queue's record says how far it must go; a restart begins again,
// and nothing is wrong with doing it twice.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/in_turn.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(pull_queue_retimed)
HK_SOMETIMES_DECLARE(pulled_message_expired_by_shorter_retention)
HK_SOMETIMES_DECLARE(fifo_delay_changed_while_waiting)

namespace hk::core {

void Pulls::begin_retime(const Queue& queue) {
  retimes_.insert_or_assign({queue.tenant, queue.name},
                            Retime{IndexWalk(queue), queue.retime_up_to});
  lanes_.index_soon(queue.retime_up_to);
}

void Pulls::retime() {
  in_turn(retimes_, retimed_last_, limits_.sweeps_per_batch,
          [this](const QueueKey& key, Retime& work, std::size_t& budget) {
            const auto& [tenant, name] = key;
            const Queue* const queue = queues_.find_pulled(tenant, name);
            // Without an index entry a message cannot be found. Lanes hurry to write it.
            if (queue != nullptr && queue->lag > 0 &&
                (context_.progress.indexed_up_to() < work.up_to || !retime(*queue, work, budget))) {
              return false;
            }
            HK_SOMETIMES(pull_queue_retimed);
            queues_.retimed(key);
            return true;
          });
}

/// False: it goes on in the next batch.
bool Pulls::retime(const Queue& queue, Retime& retime, std::size_t& budget) {
  return retime.walk.go_on(
      batch_, queue, retime.up_to, budget, [&](const LaneKey& lane, const LaneEntry& entry) {
        // A message that is pulled has a state once it is final. What is about to be
        // swept is not counted as delayed any more.
        if (entry.place.seq > queue.sweep_up_to && !batch_.get<MessageState>(entry.place.seq)) {
          retime_one(queue, lane, entry);
        }
      });
}

void Pulls::retime_one(const Queue& queue, const LaneKey& lane, LaneEntry entry) {
  const Seq seq = entry.place.seq;
  const auto message = batch_.get<Message>(seq);
  if (message == nullptr || !message->pull) {
    return;  // of the queue that had this name before; it is being cancelled
  }
  const Moment end = kept_until(queue, *message);
  if (end <= batch_.now()) {
    HK_SOMETIMES(pulled_message_expired_by_shorter_retention);
    messages_.cancel(seq, lane, MessageState{.due = entry.place.due}, Messages::Why::expired);
    return;
  }
  batch_.expire_message(end, seq);

  Live* const live = lanes_.find(seq);
  const std::uint32_t receives = live != nullptr ? live->attempts : entry.attempts;
  const Moment before = live != nullptr ? live->not_before : entry.not_before;
  if (!message->pull->fifo || receives > 0 || before <= batch_.now()) {
    return;
  }
  HK_SOMETIMES(fifo_delay_changed_while_waiting);
  const Moment due = Delayed::rounded(message->pull->sent_at + queue.pull->delay, batch_.now());
  delays_.change({queue.tenant, queue.name}, before, due, batch_.now());
  if (live == nullptr) {
    entry.not_before = due;
    batch_.put(Put<LaneRow>{lane, std::move(entry)});
    return;
  }
  live->not_before = due;
  lanes_.index_again(*live);
  scheduler_.due_changed(*live, batch_.now());
}

}  // namespace hk::core
