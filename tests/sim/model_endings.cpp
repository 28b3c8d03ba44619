// What those who hold a lease may say of it, by a call of their own: nobody else is listened to,
// and it is as if the attempt had been reported so.
#include <algorithm>

#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using Said = core::JobEnded::Outcome;

Expected ended(Said outcome, core::Status status) {
  return {.kind = Expected::Kind::job_ended, .ended = {outcome, status}};
}

}  // namespace

core::Status Model::shown_status(const ModelMessage& message) const {
  if (core::is_final(message.status)) {
    return message.status;
  }
  const bool out =
      message.pulled()
          ? message.pushed || (message.attempts > 0 && message.due > time_ &&
                               has_pull_queue({message.content->tenant, message.content->queue}))
          : message.leased;
  return out ? core::Status::running : core::Status::pending;
}

/// The lease that counts is the one that it names.
bool Model::holds(const Op& op, const ModelMessage& message) const {
  if (!op.receipts.empty()) {
    return message.pulled() && !message.pushed && shown_status(message) == core::Status::running &&
           message.attempts == op.receipts.front().receive;
  }
  return (message.leased || message.pushed) && message.fence == op.fence && !op.other_partition;
}

Expected Model::end_job(const Op& op) {
  const ModelMessage* const message = find(op.tenant, op.id);
  if (message == nullptr) {
    return refused(ErrorKind::not_found);
  }
  if (core::is_final(message->status)) {
    const bool same_lease = op.receipts.empty() ? message->fence == op.fence && !op.other_partition
                                                : message->attempts == op.receipts.front().receive;
    const bool again = op.delivered && message->status == core::Status::succeeded &&
                       message->told == op.result && same_lease;
    return ended(again ? Said::again : Said::finished, message->status);
  }
  if (!holds(op, *message)) {
    return ended(Said::lease_lost, shown_status(*message));
  }
  const core::Seq seq = op.id.seq;
  const core::Message& content = *message->content;
  const std::string said = op.delivered ? op.result : "";
  const auto tell = [&] { update(seq, [&said](ModelMessage& one) { one.told = said; }); };
  if (!message->pulled()) {
    end_attempt(seq, op.delivered, op.give_up, op.retry_after, op.delivered ? 200 : 0, said);
    return ended(Said::done, messages_.at(seq).status);
  }
  const auto queue = queues_.find({content.tenant, content.queue});
  const bool there = queue != queues_.end() && !queue->second.deleted && queue->second.pull;
  if (!op.delivered && op.give_up && there && queue->second.pull->halt && content.pull->fifo) {
    return refused(ErrorKind::conflict);
  }
  // What is on the wire was numbered as all that is received.
  if (op.delivered) {
    tell();
    event(content.tenant, seq, core::EventKind::delivered, message->attempts);
    finish(seq, core::Status::succeeded);
    return ended(Said::done, core::Status::succeeded);
  }
  if (op.give_up) {
    tell();
    const std::string target = there ? queue->second.pull->dead_letters_to : std::string{};
    if (target != content.queue && find_pull_queue({content.tenant, target}) != nullptr) {
      require(next_message_ < written_->messages.size(), "dead letters once",
              describe(*message) + " was given up and did not arrive");
      give_up(seq, written_->messages[next_message_++]);
    } else {
      finish(seq, core::Status::failed);
    }
    return ended(Said::done, core::Status::failed);
  }
  const Millis wait = again_after(message->attempts, op.retry_after);
  update(seq, [&](ModelMessage& one) {
    one.pushed = false;
    one.due = time_ + wait;
  });
  return ended(Said::done, shown_status(messages_.at(seq)));
}

}  // namespace hk::sim
