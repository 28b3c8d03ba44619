// What being pulled means for a message when it comes, ends, or is too old.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(pulled_message_expired_unseen)

namespace hk::core {

Result<void> Pulls::check(Publish& command) {
  Message& message = *command.message;
  const Queue* const queue =
      message.queue.empty() ? nullptr : queues_.find(message.tenant, message.queue);
  const bool there = queue != nullptr && !queue->deleted;
  const bool pulled = there && queue->pull.has_value();
  if (!message.pull) {
    return pulled ? fail(ErrorKind::conflict,
                         "queue " + message.queue + " is pulled from: a message for it has no URL")
                  : Result<void>{};
  }
  if (!pulled) {
    return there ? fail(ErrorKind::conflict, "queue " + message.queue + " is not pulled from")
                 : no_queue(message.queue);
  }
  const PullSettings& settings = *queue->pull;
  message.pull->fifo = settings.fifo;
  if (!command.own_delay || settings.fifo) {
    message.not_before = std::max(message.not_before, batch_.now() + settings.delay);
  }
  message.not_before = Delayed::rounded(message.not_before, batch_.now());
  return {};
}

Pulls::DedupScopes Pulls::dedup_scopes(const Message& message, Millis window) {
  const Queue* const queue = queues_.find_pulled(message.tenant, message.queue);
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

void Pulls::accepted(Message& message) {
  if (message.pull->sent_at == Moment{}) {
    message.pull->sent_at = batch_.now();
  }
  const Queue* const queue = queues_.find_pulled(message.tenant, message.queue);
  HK_ASSERT(queue != nullptr);
  // What comes from another queue may be too old for this one. A record that is due before its
  // message has an index entry holds up those of everybody behind it.
  const Moment indexed = batch_.now() + 2 * limits_.index_after;
  batch_.expire_message(std::max(kept_until(*queue, message), indexed), message.id.seq);
  if (message.not_before > batch_.now()) {
    delays_.change({message.tenant, message.queue}, Moment{}, message.not_before, batch_.now());
  }
}

/// What was never due was never received, either.
void Pulls::retired(Seq seq, const LaneKey& lane) {
  if (delays_.empty()) {
    return;
  }
  const QueueKey key{lane.tenant, lane.queue};
  if (!delays_.has(key)) {
    return;
  }
  const Queue* const queue = queues_.find(lane.tenant, lane.queue);
  HK_ASSERT(queue != nullptr);
  if (seq <= queue->sweep_up_to) {
    return;
  }
  Moment due{};
  if (const Live* live = lanes_.find(seq)) {
    due = live->attempts == 0 ? live->not_before : Moment{};
  } else {
    const auto message = batch_.get<Message>(seq);
    HK_ASSERT(message != nullptr);
    const auto entry = lanes_.find_entry(*message);  // the queue's delay may have changed since
    due = entry ? entry->not_before : message->not_before;
  }
  delays_.change(key, due, Moment{}, batch_.now());
}

Moment Pulls::kept_until(const Queue& queue, const Message& message) {
  return message.pull->sent_at + queue.pull->retention;
}

void Pulls::expire(Seq seq) {
  const auto message = batch_.get<Message>(seq);
  if (message == nullptr || !message->pull) {
    return;
  }
  const Queue* const queue = queues_.find_pulled(message->tenant, message->queue);
  const Moment end = queue == nullptr ? batch_.now() : kept_until(*queue, *message);
  if (end > batch_.now()) {
    batch_.expire_message(end, seq);
    return;
  }
  HK_SOMETIMES(pulled_message_expired_unseen);
  messages_.cancel(seq, lane_of(*message), MessageState{.due = message->not_before},
                   Messages::Why::expired);
}

}  // namespace hk::core
