// The end of a queue. Its waiting messages are cancelled in the order of the index, a bounded
// number per batch; until that is done the queue's gate is shut, so that none of them starts. The
// record says how far it must go: a restart begins again and skips what is final.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/queue/in_turn.h"

HK_SOMETIMES_DECLARE(queue_deleted_with_messages)
HK_SOMETIMES_DECLARE(sweep_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(deleted_queue_gone)

namespace hk::core {
/// To everybody else the queue is gone with this answer. Deleting what is not there is success.
Reply Machine::decide(const DeleteQueueCommand& command) {
  const auto found = queues_.find({command.tenant, command.name});
  if (found == queues_.end() || found->second.deleted) {
    return Done{};
  }
  Queue& queue = found->second;
  queue.deleted = true;
  queue.updated_at = batch_.now();
  dirty_queues_.insert(found->first);
  if (queue.lag > 0) {
    HK_SOMETIMES(queue_deleted_with_messages);
  }
  end_waiters(queue);
  end_moves_of(queue);
  receive_attempts_.erase(found->first);
  begin_sweep(queue);
  return Done{};
}

/// From the start of its index, also when an earlier deletion of it was not done yet.
void Machine::begin_sweep(Queue& queue) {
  queue.sweep_up_to = last_seq_;
  queue.doomed = queue.lag;
  index_wanted_ = last_seq_;
  forget_delayed_of({queue.tenant, queue.name});
  go_on_sweeping(queue);
}

void Machine::go_on_sweeping(const Queue& queue) {
  sweeps_[{queue.tenant, queue.name}] = IndexWalk{.lane = {queue.tenant, queue.name, {}, {}, {}}};
  scheduler_.queue_gate(queue.tenant, queue.name).sweeping = true;
}

/// Until its sweep is over a queue hands nothing out.
void Machine::sweep_queues() {
  in_turn(sweeps_, swept_last_, limits_.sweeps_per_batch,
          [this](const QueueKey& key, IndexWalk& walk, std::size_t& budget) {
            Queue& queue = queues_.at(key);
            if (queue.lag > 0) {
              // Without an index entry a message cannot be found. index_young() hurries.
              if (meta_.indexed_up_to < queue.sweep_up_to) {
                return false;
              }
              if (!sweep(queue, walk, budget)) {
                HK_SOMETIMES(sweep_goes_on_in_the_next_batch);
                return false;
              }
            }
            queue.sweep_up_to = Seq{};
            dirty_queues_.insert(key);
            Gate& gate = scheduler_.queue_gate(queue.tenant, queue.name);
            gate.sweeping = false;
            scheduler_.gate_changed(gate, batch_.now());
            drop_if_over(queue);
            return true;
          });
}

/// False: it goes on in the next batch.
bool Machine::sweep(const Queue& queue, IndexWalk& walk, std::size_t& budget) {
  return walk_index(walk, queue, queue.sweep_up_to, budget,
                    [this](const LaneKey& lane, const LaneEntry& entry) {
                      const Seq seq = entry.place.seq;
                      MessageState state = batch_.state(seq).value_or(
                          MessageState{.due = lane.ordered() ? entry.not_before : entry.place.due});
                      if (!is_final(state.status) && !state.cancel_requested) {
                        cancel(seq, lane, std::move(state), Why::swept);
                      }
                    });
}

/// A message of the queue is final.
void Machine::leave_queue(Seq seq, const LaneKey& lane) {
  const auto found = queues_.find({lane.tenant, lane.queue});
  HK_ASSERT(found != queues_.end() && found->second.lag > 0);
  --found->second.lag;
  // The last of them may be pushed ones that were on the wire when the sweep came by.
  const bool of_before = found->second.pull && !lane.is_pulled();
  if ((seq <= found->second.sweep_up_to || of_before) && found->second.doomed > 0) {
    --found->second.doomed;
  }
  dirty_queues_.insert(found->first);
  if (lane.ordered()) {
    look_again(lane, seq);
  }
  drop_if_over(found->second);
}

void Machine::drop_if_over(const Queue& queue) {
  if (!queue.deleted || queue.lag > 0 || queue.sweep_up_to != Seq{}) {
    return;
  }
  HK_SOMETIMES(deleted_queue_gone);
  scheduler_.forget_gate(scheduler_.queue_gate(queue.tenant, queue.name));
  scheduler_.forget_pull_queue(queue.tenant, queue.name);
  queues_.erase({queue.tenant, queue.name});
}

}  // namespace hk::core
