/// Queues that are pulled from, seen from their receivers: who waits, what is handed out, settled,
/// delayed, halted and too old. The queues' records are in Queues. A component (component.h).
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/command.h"
#include "core/component.h"
#include "core/effect.h"
#include "core/lane/scheduler.h"
#include "core/pull/delayed_counts.h"
#include "core/pull/receive_attempts.h"
#include "core/queue/index_walk.h"
#include "core/queue/key.h"

namespace hk::core {

class Lanes;
class Messages;
class Queues;
class Tasks;
class Tenants;
struct MoveRoom;
struct Standing;

class Pulls : Component {
 public:
  Pulls(Context& context, Scheduler& scheduler, Lanes& lanes, Tenants& tenants, Queues& queues,
        Messages& messages, Tasks& tasks)
      : Component(context),
        scheduler_(scheduler),
        lanes_(lanes),
        tenants_(tenants),
        queues_(queues),
        messages_(messages),
        tasks_(tasks),
        attempts_(limits_.receive_attempts_max) {}

  void recover(Reader& reader);
  Reply execute(PullCommand&& command);
  /// Messages of changed queues learn of the change.
  void retime();
  void forget_past_delays() { delays_.forget_past(batch_.now()); }
  /// To receivers: first come, first served; what one does not take the next one may.
  void hand_out();
  [[nodiscard]] Moment wake_at() const;
  void flush() { delays_.flush(batch_); }

  // ---- of messages ----

  /// A message to be accepted fits its queue, which may delay it. not_found: one to be pulled has
  /// no queue. conflict: its queue is of the other kind.
  Result<void> check(Publish& command);
  /// Dedup ids of a queue, or of a group of it, since it was made and since its last purge: an id
  /// of what is gone with a queue must not swallow a message for the one that has its name now.
  struct DedupScopes {
    std::string now{};
    std::string before{};  ///< "": the same
  };
  DedupScopes dedup_scopes(const Message& message, Millis window);
  /// It has its id. REQUIRES: message.pull.
  void accepted(Message& message);
  /// A message of a queue becomes final; of any kind of queue.
  void retired(Seq seq, const LaneKey& lane);
  /// The retention of its queue is over, as far as was known when it came.
  void expire(Seq seq);
  /// REQUIRES: it is not final.
  void inspect(const Message& message, Inspected& answer);

  // ---- of messages in memory ----

  /// The lease is over. REQUIRES: leased.
  void become_visible(Live& live);
  /// Gone from its queue, whatever it did. `last`: what is known of its last receive. REQUIRES:
  /// leased.
  void finish(Live& live, Status status, MessageState state = {}, Attempt last = {});
  /// It was not done: visible again after a while, as long as was asked for or longer with every
  /// receive. REQUIRES: leased.
  void try_again(Live& live, std::optional<Millis> wanted);
  /// It has been received too often, and its group shall stop at it.
  bool stops_its_group(const Live& live);
  /// REQUIRES: it is not leased, and waits nowhere yet.
  void halt_if_failed(Live& live);
  /// The retention of its queue, from when it was sent. REQUIRES: both are of what is pulled.
  static Moment kept_until(const Queue& queue, const Message& message);

  /// It is its turn to be pushed; or it goes elsewhere, which takes room. REQUIRES: live.push.
  void push(Live& live, MoveRoom& room);

  // ---- of jobs, which messages.h ends ----

  /// Who has one that is pulled.
  void look_at(Standing& job);
  /// As Messages::check(), of one that was not done. REQUIRES: `job` is held under that lease.
  Result<void> check_failed(const EndJob& command, Standing& job);
  /// REQUIRES: both checks.
  void end(Live& live, EndJob command);
  /// What is out under that receipt; null: nothing.
  Live* find_received(const Message& message, const Receipt& receipt);

  // ---- of queues ----

  /// It pushes, or not, by its settings as they are now.
  void use_push(const Queue& queue);
  QueueCounted count(const Queue& queue);
  void settings_changed(const Queue& queue);
  /// Its messages up to its retime_up_to are told of its settings.
  void begin_retime(const Queue& queue);
  /// What it has is doomed.
  void emptied(const QueueKey& queue);
  void queue_gone(const Queue& queue);

 private:
  /// A Receive that is not answered yet.
  struct Waiter {
    ReceiverId receiver{};
    std::uint32_t max = 1;
    std::optional<Millis> visibility{};
    Moment until{};
    std::string attempt_id{};
  };
  /// How far a changed queue's messages have been told of the change.
  struct Retime {
    IndexWalk walk;
    Seq up_to{};
  };

  Reply decide(const Receive& command);
  Reply decide(const StopReceiving& command);
  Reply decide(const DeleteReceived& command);
  Reply decide(const ChangeVisibility& command);
  Reply decide(const GiveBack& command);
  Reply decide(const CountQueue& command);
  Reply decide(const ListHalted& command);
  Reply decide(const ResolveHalted& command);

  // receive.cpp
  bool stop_receiving(TenantId tenant, const std::string& queue, ReceiverId receiver);
  bool hand_out_to(const Queue& queue, PullQueue& pull, const Waiter& waiter, MoveRoom& room);
  void answer_late();
  bool must_not_be_handed_out(const Queue& queue, Live& live, const Message& message);
  void lease_to(Live& live, ReceiverId receiver, Millis visibility);
  void hide_until(Live& live, Moment until);
  static Received::One handed_out(const Live& live, std::shared_ptr<const Message> message);

  // receive_again.cpp
  std::optional<Received> hand_out_again(const Queue& queue, const Receive& command);
  void note_attempt(const Queue& queue, const std::string& id, const std::vector<Live*>& given);

  // push.cpp
  static Millis again_after(std::uint32_t receive, std::optional<Millis> wanted);

  // settle.cpp
  Result<Live*> find_held(const Queue& queue, const Receipt& receipt);

  // dead_letter.cpp
  void move_to(const Queue& target, Live& live, const Queue& source, Attempt last = {});

  // halt.cpp
  bool failed_for_good(const Queue& queue, const Live& live);
  void go_on(Live& live);
  void go_on_if_allowed(const Queue& queue);

  // retime.cpp
  bool retime(const Queue& queue, Retime& retime, std::size_t& budget);
  void retime_one(const Queue& queue, const LaneKey& lane, LaneEntry entry);

  Scheduler& scheduler_;
  Lanes& lanes_;
  Tenants& tenants_;
  Queues& queues_;
  Messages& messages_;
  Tasks& tasks_;

  /// By queue, first come, first served. None of them is empty.
  std::map<QueueKey, std::list<Waiter>> waiters_;
  std::set<std::tuple<Moment, TenantId, std::string, ReceiverId>> waits_;  ///< by their ends
  std::map<QueueKey, std::shared_ptr<const PushTarget>> pushes_;           ///< of queues that push
  ReceiveAttempts attempts_;
  DelayedCounts delays_;
  std::map<QueueKey, Retime> retimes_;
  QueueKey retimed_last_{};  ///< the next one's turn comes
};

}  // namespace hk::core
