#include "core/queue/queues.h"

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/pull/pulls.h"
#include "core/task/tasks.h"

HK_SOMETIMES_DECLARE(queue_made_again_while_deleted)
HK_SOMETIMES_DECLARE(recovered_sweep)

namespace hk::core {

void Queues::recover(Reader& reader) {
  for (const Queue& queue : reader.scan<Queue>()) {
    queues_[{queue.tenant, queue.name}] = queue;
    scheduler_.queue_gate(queue.tenant, queue.name).paused = queue.paused;
    if (queue.sweep_up_to != Seq{}) {
      HK_SOMETIMES(recovered_sweep);
      go_on_sweeping(queue);
    }
    pulls_.use_push(queue);
  }
}

Reply Queues::execute(QueueCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Moment Queues::wake_at() const { return sweeps_.empty() ? never : context_.progress.time(); }

void Queues::flush() {
  for (const QueueKey& key : dirty_) {
    const auto queue = queues_.find(key);
    if (queue == queues_.end()) {
      batch_.put(Erase<Queue>{key.first, key.second});
    } else {
      batch_.put(Put<Queue>{queue->second});
    }
  }
  dirty_.clear();
}

const Queue* Queues::find(TenantId tenant, const std::string& name) const {
  const auto found = queues_.find({tenant, name});
  return found == queues_.end() ? nullptr : &found->second;
}

const Queue* Queues::find_pulled(TenantId tenant, const std::string& name) const {
  const Queue* const queue = find(tenant, name);
  return queue == nullptr || queue->deleted || !queue->pull ? nullptr : queue;
}

Queues::Records::iterator Queues::find_to_change(TenantId tenant, const std::string& name) {
  const auto found = queues_.find({tenant, name});
  const bool pulled =
      found != queues_.end() && !found->second.deleted && found->second.pull.has_value();
  return pulled ? found : queues_.end();
}

Queue& Queues::change(Records::iterator at) {
  dirty_.insert(at->first);
  return at->second;
}

void Queues::join(TenantId tenant, const std::string& name) { ++change(make(tenant, name)).lag; }

void Queues::leave(Seq seq, const LaneKey& lane) {
  const auto found = queues_.find({lane.tenant, lane.queue});
  HK_ASSERT(found != queues_.end() && found->second.lag > 0);
  Queue& queue = change(found);
  --queue.lag;
  // The last of them may be pushed ones that were on the wire when the sweep came by.
  const bool of_before = queue.pull && !lane.is_pulled();
  if ((seq <= queue.sweep_up_to || of_before) && queue.doomed > 0) {
    --queue.doomed;
  }
  if (lane.ordered()) {
    tasks_.look_again(lane, seq);
  }
  drop_if_over(queue);
}

void Queues::retimed(const QueueKey& key) {
  if (const auto found = queues_.find(key); found != queues_.end()) {
    change(found).retime_up_to = Seq{};
  }
}

Queues::Records::iterator Queues::make(TenantId tenant, const std::string& name) {
  const auto [at, fresh] = queues_.try_emplace({tenant, name});
  if (!fresh && !at->second.deleted) {
    return at;
  }
  if (!fresh) {
    HK_SOMETIMES(queue_made_again_while_deleted);
  }
  // What it had before its deletion is still counted, and still being cancelled.
  Queue& queue = change(at);
  queue = Queue{.tenant = tenant,
                .name = name,
                .parallelism = limits_.queue_parallelism_default,
                .paused = false,
                .created_at = batch_.now(),
                .updated_at = batch_.now(),
                .lag = queue.lag,
                .sweep_up_to = queue.sweep_up_to,
                .doomed = queue.doomed,
                .deleted = false};
  use_settings(queue);
  return at;
}

void Queues::use_settings(const Queue& queue) {
  Gate& gate = scheduler_.queue_gate(queue.tenant, queue.name);
  gate.orphan = false;
  gate.paused = queue.paused;
  scheduler_.gate_changed(gate, batch_.now());
  scheduler_.set_slots({queue.tenant, queue.name, {}, {}, {}}, queue.parallelism, batch_.now());
}

}  // namespace hk::core
