/// Messages from acceptance to their end: attempts, retries, callbacks, dead letters, retention.
/// Whoever makes a message in the course of something else calls accept() or publish(), and it is
/// in the same batch. A component (component.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"

namespace hk::core {

class FlowKeys;
class IdempotencyKeys;
class Lanes;
class Pulls;
class Queues;
class Tenants;
class Topics;
struct FanOutRoom;
struct Standing;
namespace webhook {
class Webhooks;
}

/// The attempt that it ends, but for which one that is.
Attempt told_by(const EndJob& command);

class Messages : Component {
 public:
  Messages(Context& context, Scheduler& scheduler, Lanes& lanes, Tenants& tenants, Queues& queues,
           FlowKeys& flow_keys, Topics& topics, Pulls& pulls, IdempotencyKeys& idempotency_keys,
           webhook::Webhooks& webhooks)
      : Component(context),
        scheduler_(scheduler),
        lanes_(lanes),
        tenants_(tenants),
        queues_(queues),
        flow_keys_(flow_keys),
        topics_(topics),
        pulls_(pulls),
        idempotency_keys_(idempotency_keys),
        webhooks_(webhooks) {}

  void recover();
  Reply execute(MessageCommand&& command);
  /// A lease that ran out is a failed attempt: whoever held it is taken for dead.
  void expire_leases();
  /// What was kept long enough goes.
  void purge_expired();
  void start_attempts();
  [[nodiscard]] Moment wake_at() const;

  /// Its record, its place in a lane and its event. The message has everything but its id and the
  /// time of its acceptance.
  MessageId accept(std::shared_ptr<Message> message);
  /// The same with all the checks that a client's message needs: tenant, policy, duplicate.
  /// REQUIRES: it is not for a topic.
  Result<Published> publish(Publish command);
  /// The same; one for a topic goes to all its endpoints.
  Result<Sent> send(Publish command);
  Result<Sent> send(Publish&& command, FanOutRoom& room);
  /// May it be sent, beside what has taken room already? Changes nothing but that room, and the
  /// times that the message says.
  Result<void> check(Publish& command, FanOutRoom& room);
  /// The same. REQUIRES: it is not for a topic.
  Result<void> check(Publish& command);

  /// Why a message ends that nobody delivered.
  enum class Why : std::uint8_t { asked, swept, expired };
  /// True: an attempt of it is on the wire; no other follows. REQUIRES: the state is neither final
  /// nor being cancelled; `lane` is a copy, since the message's own may go with it.
  bool cancel(Seq seq, const LaneKey& lane, MessageState state, Why why);
  /// As a client has asked. False: it is final, or being cancelled already.
  bool cancel_unless_over(const Message& message);
  /// Ends a message that is in its lane's window and does not run. REQUIRES: !live.leased.
  void cancel_waiting(Live& live, MessageState state);
  /// Ends the delivery of a webhook that has not ended, also while an attempt of it runs: that one
  /// may still land, and then counts as delivered. Nothing: it is final, or being cancelled.
  void cancel_delivery(Seq seq, CancelReason reason);
  /// One that halts its order, and so waits for ever, has failed. Nothing: it does not.
  void give_up_halted(Seq seq);
  /// Another delivery of the same has succeeded, so this one has, however it stood: what of it is
  /// on the wire counts no more.
  void settle_delivery(Seq seq);
  /// The message is final. Its live record is gone afterwards, unless a slot is held for callbacks.
  void finish(Live& live, MessageState state, Status status);
  /// False: the callback that it waited for has ended in this very batch, and its entry goes with
  /// it.
  bool awaits_callbacks(Seq source);

  /// Who has it now. not_found.
  Result<Standing> standing(TenantId tenant, MessageId id);
  /// What would come of it; if it can be done, `job` is afterwards as the command will leave it.
  /// Changes nothing else. Errors as EndJob.
  Result<JobEnded::Outcome> check(const EndJob& command, Standing& job);
  /// REQUIRES: check() says done.
  void end(EndJob command);

  /// The message if it is this tenant's and the id is right in all its bits.
  std::shared_ptr<const Message> find(TenantId tenant, MessageId id);

 private:
  Reply decide(Publish command);
  Reply decide(PublishBatch command);
  Reply decide(CompleteAttempt command);
  Reply decide(EndJob command);
  Reply decide(const CancelMessage& command);
  Reply decide(const RetryDeadLetter& command);
  Reply decide(const DeleteDeadLetterCommand& command);
  Reply decide(const Inspect& command);

  std::optional<Dedup> find_duplicate(Publish& command);
  /// What is on the wire under that fence; null: nothing.
  Live* find_pushed(Seq seq, const Fence& fence);
  void end_attempt(Live& live, Attempt attempt, bool delivered, bool give_up,
                   std::optional<Millis> retry_after, bool timed_out = false);
  /// Its attempt was not made, for a reason of this server: it is made later, and nothing has
  /// happened. REQUIRES: it is the delivery of a webhook, and leased.
  void put_back(Live& live);
  /// Its attempt was not made: it ends as cancelled. REQUIRES: start_next() has just given it.
  void end_unsent(Live& live, CancelReason reason);
  /// The state of what is in memory and not final.
  MessageState state_of(const Live& live);
  void plan_retry(Live& live, const Message& message, MessageState state, Millis delay);
  void retire(Seq seq, const LaneKey& lane, MessageState& state, Status status);

  // callback.cpp
  void call_back(const Message& source, const Callback& to, MessageState& state);
  void tell_of_attempt(const Live& live, MessageState& state);
  void tell_of_failure(const Live& live, MessageState& state);
  void cut_answer(const Live& live, MessageState& state) const;
  void hold_for_callbacks(Live& live);
  void callback_ended(Seq callback);

  void explain_shares(const Message& message, const TenantLanes& owner,
                      std::vector<Hold>& holds) const;

  Scheduler& scheduler_;
  Lanes& lanes_;
  Tenants& tenants_;
  Queues& queues_;
  FlowKeys& flow_keys_;
  Topics& topics_;
  Pulls& pulls_;
  IdempotencyKeys& idempotency_keys_;
  webhook::Webhooks& webhooks_;

  Moment next_expiry_check_{};
};

}  // namespace hk::core
