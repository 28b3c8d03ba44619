// The end of a queue. Its waiting messages are cancelled in the order of the index, a bounded
// number per batch; until that is done the queue's gate is shut, so that none of them starts. The
// record says how far it must go: a restart begins again and skips what is final.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/in_turn.h"
#include "core/queue/queues.h"
#include "core/task/tasks.h"

HK_SOMETIMES_DECLARE(queue_deleted_with_messages)
HK_SOMETIMES_DECLARE(sweep_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(deleted_queue_gone)

namespace hk::core {
/// To everybody else the queue is gone with this answer. Deleting what is not there is success.
Reply Queues::decide(const DeleteQueueCommand& command) {
  const auto found = queues_.find({command.tenant, command.name});
  if (found == queues_.end() || found->second.deleted) {
    return Done{};
  }
  Queue& queue = change(found);
  queue.deleted = true;
  queue.updated_at = batch_.now();
  if (queue.lag > 0) {
    HK_SOMETIMES(queue_deleted_with_messages);
  }
  pulls_.queue_gone(queue);
  tasks_.queue_gone(queue);
  begin_sweep(queue);
  return Done{};
}

/// From the start of its index, also when an earlier deletion of it was not done yet.
void Queues::begin_sweep(Queue& queue) {
  queue.sweep_up_to = context_.progress.last_message();
  queue.doomed = queue.lag;
  lanes_.index_soon(queue.sweep_up_to);
  pulls_.emptied({queue.tenant, queue.name});
  go_on_sweeping(queue);
}

void Queues::go_on_sweeping(const Queue& queue) {
  sweeps_.insert_or_assign({queue.tenant, queue.name}, IndexWalk(queue));
  scheduler_.queue_gate(queue.tenant, queue.name).sweeping = true;
}

void Queues::advance() {
  in_turn(sweeps_, swept_last_, limits_.sweeps_per_batch,
          [this](const QueueKey& key, IndexWalk& walk, std::size_t& budget) {
            const auto at = queues_.find(key);
            HK_ASSERT(at != queues_.end());
            if (at->second.lag > 0) {
              // Without an index entry a message cannot be found. Lanes hurry to write it.
              if (context_.progress.indexed_up_to() < at->second.sweep_up_to) {
                return false;
              }
              if (!sweep(at->second, walk, budget)) {
                HK_SOMETIMES(sweep_goes_on_in_the_next_batch);
                return false;
              }
            }
            Queue& queue = change(at);
            queue.sweep_up_to = Seq{};
            Gate& gate = scheduler_.queue_gate(queue.tenant, queue.name);
            gate.sweeping = false;
            scheduler_.gate_changed(gate, batch_.now());
            drop_if_over(queue);
            return true;
          });
}

/// False: it goes on in the next batch.
bool Queues::sweep(const Queue& queue, IndexWalk& walk, std::size_t& budget) {
  return walk.go_on(batch_, queue, queue.sweep_up_to, budget,
                    [this](const LaneKey& lane, const LaneEntry& entry) {
                      const Seq seq = entry.place.seq;
                      MessageState state = batch_.get<MessageState>(seq).value_or(
                          MessageState{.due = lane.ordered() ? entry.not_before : entry.place.due});
                      if (!is_final(state.status) && !state.cancel_requested) {
                        messages_.cancel(seq, lane, std::move(state), Messages::Why::swept);
                      }
                    });
}

void Queues::drop_if_over(const Queue& queue) {
  if (!queue.deleted || queue.lag > 0 || queue.sweep_up_to != Seq{}) {
    return;
  }
  HK_SOMETIMES(deleted_queue_gone);
  scheduler_.forget_gate(scheduler_.queue_gate(queue.tenant, queue.name));
  scheduler_.forget_pull_queue(queue.tenant, queue.name);
  queues_.erase({queue.tenant, queue.name});
}

}  // namespace hk::core
