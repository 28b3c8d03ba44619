// Queues that are pulled from: made, changed, emptied, counted.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/pull/no_queue.h"

HK_SOMETIMES_DECLARE(pull_queue_made)
HK_SOMETIMES_DECLARE(pull_queue_changed_meanwhile)
HK_SOMETIMES_DECLARE(pull_queue_purged)
HK_SOMETIMES_DECLARE(pulled_message_expired_unseen)

namespace hk::core {

/// Null: there is none, or one whose messages are pushed.
Queue* Machine::find_pull_queue(TenantId tenant, const std::string& name) {
  const auto found = queues_.find({tenant, name});
  return found == queues_.end() || found->second.deleted || !found->second.pull ? nullptr
                                                                                : &found->second;
}

Reply Machine::decide(CreatePullQueue command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto known = queues_.find({command.tenant, command.name});
  if (known != queues_.end() && !known->second.deleted) {
    return QueueMade{.existed = true, .queue = known->second};
  }
  HK_SOMETIMES(pull_queue_made);
  Queue& queue = queue_for(command.tenant, command.name);
  queue.pull = std::move(command.settings);
  queue.pull->version = 1;
  return QueueMade{.existed = false, .queue = queue};
}

Reply Machine::decide(SetPullSettings command) {
  Queue* const queue = find_pull_queue(command.tenant, command.name);
  if (queue == nullptr) {
    return no_queue(command.name);
  }
  if (queue->pull->version != command.settings.version) {
    HK_SOMETIMES(pull_queue_changed_meanwhile);
    return fail(ErrorKind::conflict, "the queue was changed meanwhile; read it again");
  }
  const PullSettings before = *queue->pull;
  queue->pull = std::move(command.settings);
  queue->pull->fifo = before.fifo;  // messages are in lanes of one kind or of the other
  ++queue->pull->version;
  queue->updated_at = batch_.now();
  dirty_queues_.insert({command.tenant, command.name});
  settings_changed(*queue);
  retime_if_needed(*queue, before);
  return Done{};
}

/// With this answer nothing of what it held can be handed out any more: its gate is shut until all
/// of that is cancelled.
Reply Machine::decide(const PurgeQueue& command) {
  Queue* const queue = find_pull_queue(command.tenant, command.name);
  if (queue == nullptr) {
    return no_queue(command.name);
  }
  HK_SOMETIMES(pull_queue_purged);
  queue->pull->purged_at = batch_.now();
  ++queue->pull->purges;
  ++queue->pull->version;
  dirty_queues_.insert({command.tenant, command.name});
  receive_attempts_.erase({command.tenant, command.name});
  begin_sweep(*queue);
  return Done{};
}

/// not_found: a message to be pulled has no queue. conflict: its queue is of the other kind.
Result<void> Machine::check_pull(Publish& command) {
  Message& message = *command.message;
  const auto found = queues_.find({message.tenant, message.queue});
  const bool there = !message.queue.empty() && found != queues_.end() && !found->second.deleted;
  const bool pulled = there && found->second.pull.has_value();
  if (!message.pull) {
    return pulled ? fail(ErrorKind::conflict,
                         "queue " + message.queue + " is pulled from: a message for it has no URL")
                  : Result<void>{};
  }
  if (!pulled) {
    return there ? fail(ErrorKind::conflict, "queue " + message.queue + " is not pulled from")
                 : no_queue(message.queue);
  }
  const PullSettings& settings = *found->second.pull;
  message.pull->fifo = settings.fifo;
  if (!command.own_delay || settings.fifo) {
    message.not_before = std::max(message.not_before, batch_.now() + settings.delay);
  }
  message.not_before = Delayed::rounded(message.not_before, batch_.now());
  return {};
}

/// Dedup ids of a queue, or of a group of it, since it was made and since its last purge: an id of
/// what is gone with a queue must not swallow a message for the one that has its name now.
Machine::DedupScopes Machine::pull_dedup_scopes(const Message& message, Millis window) {
  const Queue* const queue = find_pull_queue(message.tenant, message.queue);
  HK_ASSERT(queue != nullptr);
  std::string whole = "queue " + message.queue + ' ' + std::to_string(to_ms(queue->created_at)) +
                      ' ' + std::to_string(queue->pull->purges);
  std::string group = whole + ' ' + message.group;
  // What was accepted before the scope was changed counts in the scope that it was accepted in.
  const bool changed = queue->updated_at + window > batch_.now();
  if (queue->pull->dedup_by_group) {
    return {std::move(group), changed ? std::move(whole) : std::string{}};
  }
  return {std::move(whole), changed ? std::move(group) : std::string{}};
}

/// The retention of its queue, from when it was sent. REQUIRES: both are of what is pulled.
Moment Machine::kept_until(const Queue& queue, const Message& message) {
  return message.pull->sent_at + queue.pull->retention;
}

/// The retention of its queue is over, as far as was known when it came.
void Machine::expire_pulled(Seq seq) {
  const auto message = batch_.message(seq);
  if (message == nullptr || !message->pull) {
    return;
  }
  const Queue* const queue = find_pull_queue(message->tenant, message->queue);
  const Moment end = queue == nullptr ? batch_.now() : kept_until(*queue, *message);
  if (end > batch_.now()) {
    batch_.expire_message(end, seq);
    return;
  }
  HK_SOMETIMES(pulled_message_expired_unseen);
  cancel(seq, lane_of(*message), MessageState{.due = message->not_before}, Why::expired);
}

}  // namespace hk::core
