// How many messages a queue that is pulled from has, by what they wait for. Whoever asks often pays
// nothing for the backlog: what is out is in memory, and what is delayed is counted by due time.
#include "base/assert.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"

namespace hk::core {

Reply Pulls::decide(const CountQueue& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.name);
  if (queue == nullptr) {
    return no_queue(command.name);
  }
  return count(*queue);
}

QueueCounted Pulls::count(const Queue& queue) {
  QueueCounted counted;
  if (const PullQueue* pull = scheduler_.find_pull_queue(queue.tenant, queue.name)) {
    // While it is swept nothing is handed out: what is out is among the doomed.
    counted.in_flight = queue.sweep_up_to == Seq{} ? pull->in_flight : 0;
    if (!pull->live.empty()) {
      const auto oldest = batch_.get<Message>(pull->live.begin()->first);
      HK_ASSERT(oldest != nullptr && oldest->pull);
      counted.oldest = oldest->pull->sent_at;
    }
  }
  counted.delayed = delays_.count({queue.tenant, queue.name}, batch_.now());
  const std::uint64_t hidden = counted.in_flight + counted.delayed + queue.doomed;
  counted.visible = queue.lag > hidden ? queue.lag - hidden : 0;
  return counted;
}

}  // namespace hk::core
