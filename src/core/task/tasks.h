/// Tasks: work on many messages, a bounded piece of it per batch, durable and taken up again after
/// a restart. What a piece of work is, each kind says in a file of its own: move.cpp (dead letters
/// go back to work), cancel.cpp (bulk actions), replay.cpp (webhooks). A component (component.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"
#include "core/queue/key.h"
#include "core/webhook/webhooks.h"

namespace hk::core {

class Lanes;
class Messages;
class Pulls;
class Queues;
class Tenants;
struct MoveRoom;

class Tasks : Component {
 public:
  Tasks(Context& context, const Tenants& tenants, Scheduler& scheduler, Lanes& lanes,
        const Queues& queues, Messages& messages, Pulls& pulls, webhook::Webhooks& webhooks)
      : Component(context),
        tenants_(tenants),
        scheduler_(scheduler),
        lanes_(lanes),
        queues_(queues),
        messages_(messages),
        pulls_(pulls),
        webhooks_(webhooks) {}

  void recover(Reader& reader);
  Reply execute(TaskCommand&& command);
  void advance();
  [[nodiscard]] Moment wake_at() const;
  void flush();

  /// What waited behind this one, or this one itself, may be free although a task has passed it
  /// over. What came after the task's start frees nothing that it owes.
  void look_again(const LaneKey& lane, Seq freed);
  /// The queue is deleted. Tasks into it fail when they next move something.
  void queue_gone(const Queue& queue);
  /// A delivery that a replay made is final.
  void replayed(TenantId tenant, std::uint64_t number, Status status);

 private:
  using Key = KeyOf<Task>;
  /// All tasks of one subject.
  using Group = std::tuple<TenantId, Task::Kind, std::string>;

  // How far a running task is, in memory. A restart begins at the first message again.
  struct MoveRun {
    Seq after{};
    bool again = false;        ///< what it has passed over may be free by now
    std::uint64_t credit = 0;  ///< of its rate, in thousandths of a message
    Moment credited_at{};
  };
  struct CancelRun {
    LaneKey lane{};
    std::optional<LanePlace> after{};
  };
  // How far these are is stored.
  struct ReplayRun {
    std::uint64_t credit = 0;  ///< of its rate
    Moment credited_at{};
  };
  struct ExpungeRun {};
  using Place = std::variant<MoveRun, CancelRun, ReplayRun, ExpungeRun>;
  struct Run {
    Task task;
    Place place;
  };

  Reply decide(StartMoveTask command);
  Reply decide(const CancelMoveTask& command);
  Reply decide(const ListMoveTasks& command);
  Reply decide(StartCancelTask command);
  Reply decide(StartReplay command);
  Reply decide(const ChangeReplay& command);
  Reply decide(const StartExpunge& command);

  // tasks.cpp
  void begin(Task task, Place place);
  void go_on_with(Task task, Place place);
  Task end(Run& run, Task::Status status, const char* reason);
  void forget(const Key& key);
  void forget_old();
  static Group group_of(const Key& key);
  static bool is_of_webhooks(Task::Kind kind);
  [[nodiscard]] Moment kept_until(const Task& task) const;
  [[nodiscard]] Moment wake_at(const Run& run) const;

  // move.cpp
  Run* find_move(TenantId tenant, const std::string& source);
  void work(Run& run, MoveRun& at, std::size_t& budget, MoveRoom& room);
  bool move_back(Live& live, Run& run, MoveRoom& room);
  [[nodiscard]] bool is_paused(const Task& task) const;
  [[nodiscard]] Moment next_move(const Task& task, const MoveRun& at) const;

  // cancel.cpp
  void work(Run& run, CancelRun& at, std::size_t& budget, MoveRoom& room);
  bool cancel_in_lane(Task& task, CancelRun& at, std::size_t& budget, MoveRoom& room);
  bool to_next_lane(const Task& task, CancelRun& at);

  // replay.cpp
  Result<void> room_for(TenantId tenant, Task::Kind kind) const;
  void work(Run& run, ReplayRun& at, std::size_t& budget, MoveRoom& room);
  void work(Run& run, ExpungeRun& at, std::size_t& budget, MoveRoom& room);
  void count(Task& task, const webhook::Webhooks::Known& known, std::size_t& budget,
             MoveRoom& room);
  bool make_again(Task& task, const webhook::Webhooks::Known& known, std::size_t most,
                  MoveRoom& room);
  void cancel_queued(Task& task);
  void end_if_settled(Run& run);
  void end_settled();
  [[nodiscard]] Moment next_replay(const Task& task, const ReplayRun& at) const;
  void tell_of_end(const Task& task);

  const Tenants& tenants_;
  Scheduler& scheduler_;
  Lanes& lanes_;
  const Queues& queues_;
  Messages& messages_;
  Pulls& pulls_;
  webhook::Webhooks& webhooks_;

  std::map<Key, Run> runs_;
  std::set<Key> dirty_;    ///< of runs_, written by flush()
  std::set<Key> settled_;  ///< replays of which something has ended
  Key worked_last_{};      ///< the next one's turn comes
  /// The numbers of all that are kept, running or not, oldest first. None is empty, and each is
  /// bounded by Limits.
  std::map<Group, std::deque<std::uint64_t>> kept_;
  std::set<std::pair<Moment, Key>> forget_at_;  ///< of those that are kept for a time
};

}  // namespace hk::core
