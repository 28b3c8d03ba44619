// What is pulled and ended by whoever has it, with the receipt or the fence that it was given.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/message/standing.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(received_completed)
HK_SOMETIMES_DECLARE(received_failed)
HK_SOMETIMES_DECLARE(received_given_up)
HK_SOMETIMES_DECLARE(received_given_up_to_nowhere)

namespace hk::core {

void Pulls::look_at(Standing& job) {
  const Message& message = *job.message;
  const Live* const live = lanes_.find(message.id.seq);
  if (live != nullptr && live->leased && live->push != nullptr) {
    job.attempts = live->attempts;
    job.status = Status::running;
    job.pushed = live->fence;
    return;
  }
  // Beyond its lane's window the index knows as much of it.
  bool out = false;
  if (live != nullptr) {
    job.attempts = live->attempts;
    out = live->leased && live->lease_until > batch_.now();
  } else if (const auto entry = lanes_.find_entry(message)) {
    job.attempts = entry->attempts;
    out = entry->started && entry->not_before > batch_.now();
  }
  if (out && queues_.find_pulled(message.tenant, message.queue) != nullptr) {
    job.status = Status::running;
    job.receive = job.attempts;
  }
}

Live* Pulls::find_received(const Message& message, const Receipt& receipt) {
  const Queue* const queue = queues_.find_pulled(message.tenant, message.queue);
  if (queue == nullptr) {
    return nullptr;
  }
  const Result<Live*> held = find_held(*queue, receipt);
  return held && (*held)->leased ? *held : nullptr;
}

/// A receipt outlives the failure while the message is hidden, as it does when its receiver hides
/// it: until somebody is given it after that.
Result<void> Pulls::check_failed(const EndJob& command, Standing& job) {
  const Message& message = *job.message;
  const bool by_receipt = job.receive != 0;
  if (command.give_up) {
    const Queue* const queue = queues_.find_pulled(message.tenant, message.queue);
    if (queue != nullptr && queue->pull->halt && message.pull->fifo) {
      return fail(ErrorKind::conflict,
                  "queue " + queue->name +
                      " stops a group at a message that was received too often: it cannot be given "
                      "up at once. Let it be retried, or skip it when its group has stopped");
    }
    job.status = Status::failed;
    job.receive = 0;
  } else if (again_after(job.attempts, command.retry_after) <= Millis{0}) {
    job.status = Status::pending;
    job.receive = 0;
  } else if (!by_receipt) {
    job.receive = 0;
  }
  job.pushed.reset();
  return {};
}

void Pulls::end(Live& live, EndJob command) {
  if (command.succeeded) {
    HK_SOMETIMES(received_completed);
    finish(live, Status::succeeded, {}, told_by(command));
    return;
  }
  if (!command.give_up) {
    HK_SOMETIMES(received_failed);
    try_again(live, command.retry_after);
    return;
  }
  const Queue* const queue = queues_.find_pulled(live.pull->tenant, live.pull->name);
  const Queue* const target =
      queue == nullptr ? nullptr : queues_.find_pulled(queue->tenant, queue->pull->dead_letters_to);
  if (target != nullptr && target != queue) {
    HK_SOMETIMES(received_given_up);
    move_to(*target, live, *queue, told_by(command));
  } else {
    HK_SOMETIMES(received_given_up_to_nowhere);
    finish(live, Status::failed, {}, told_by(command));
  }
}

}  // namespace hk::core
