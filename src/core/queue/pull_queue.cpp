// Queues that are pulled from: made, changed, emptied.
#include "base/sometimes.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(pull_queue_made)
HK_SOMETIMES_DECLARE(pull_queue_changed_meanwhile)
HK_SOMETIMES_DECLARE(pull_queue_purged)

namespace hk::core {

namespace {

/// A shorter retention ends them earlier; the delay of a FIFO queue is that of all who wait for it.
bool concerns_its_messages(const Queue& queue, const PullSettings& before) {
  const PullSettings& now = *queue.pull;
  return queue.lag > 0 &&
         (now.retention < before.retention || (now.fifo && now.delay != before.delay));
}

}  // namespace

Reply Queues::decide(CreatePullQueue command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto known = queues_.find({command.tenant, command.name});
  if (known != queues_.end() && !known->second.deleted) {
    return QueueMade{.existed = true, .queue = known->second};
  }
  HK_SOMETIMES(pull_queue_made);
  Queue& queue = change(make(command.tenant, command.name));
  queue.pull = std::move(command.settings);
  queue.pull->version = 1;
  pulls_.use_push(queue);
  return QueueMade{.existed = false, .queue = queue};
}

Reply Queues::decide(SetPullSettings command) {
  const auto at = find_to_change(command.tenant, command.name);
  if (at == queues_.end()) {
    return no_queue(command.name);
  }
  if (at->second.pull->version != command.settings.version) {
    HK_SOMETIMES(pull_queue_changed_meanwhile);
    return fail(ErrorKind::conflict, "the queue was changed meanwhile; read it again");
  }
  Queue& queue = change(at);
  const PullSettings before = *queue.pull;
  queue.pull = std::move(command.settings);
  queue.pull->fifo = before.fifo;  // messages are in lanes of one kind or of the other
  ++queue.pull->version;
  queue.updated_at = batch_.now();
  pulls_.settings_changed(queue);
  if (concerns_its_messages(queue, before)) {
    queue.retime_up_to = context_.progress.last_message();
    pulls_.begin_retime(queue);
  }
  return Done{};
}

/// With this answer nothing of what it held can be handed out any more: its gate is shut until all
/// of that is cancelled.
Reply Queues::decide(const PurgeQueue& command) {
  const auto at = find_to_change(command.tenant, command.name);
  if (at == queues_.end()) {
    return no_queue(command.name);
  }
  HK_SOMETIMES(pull_queue_purged);
  Queue& queue = change(at);
  queue.pull->purged_at = batch_.now();
  ++queue.pull->purges;
  ++queue.pull->version;
  begin_sweep(queue);
  return Done{};
}

}  // namespace hk::core
