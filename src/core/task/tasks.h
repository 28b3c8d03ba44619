/// Tasks: work on many messages, a bounded piece of it per batch, durable and taken up again after
/// a restart. What a piece of work is, each kind says in a file of its own: move.cpp (dead letters
/// go back to work), cancel.cpp (bulk actions). A component (component.h).
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
        const Queues& queues, Messages& messages, Pulls& pulls)
      : Component(context),
        tenants_(tenants),
        scheduler_(scheduler),
        lanes_(lanes),
        queues_(queues),
        messages_(messages),
        pulls_(pulls) {}

  void recover(Reader& reader);
  Reply execute(TaskCommand&& command);
  void advance();
  [[nodiscard]] Moment wake_at() const;

  /// What waited behind this one, or this one itself, may be free although a task has passed it
  /// over. What came after the task's start frees nothing that it owes.
  void look_again(const LaneKey& lane, Seq freed);
  /// The queue is deleted. Tasks into it fail when they next move something.
  void queue_gone(const Queue& queue);

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
  struct Run {
    Task task;
    std::variant<MoveRun, CancelRun> place;
  };

  Reply decide(StartMoveTask command);
  Reply decide(const CancelMoveTask& command);
  Reply decide(const ListMoveTasks& command);
  Reply decide(StartCancelTask command);

  // tasks.cpp
  void begin(Task task, std::variant<MoveRun, CancelRun> place);
  void go_on_with(Task task, std::variant<MoveRun, CancelRun> place);
  void end(Run& run, Task::Status status, const char* reason);
  void forget(const Key& key);
  void forget_old();
  static Group group_of(const Key& key);
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

  const Tenants& tenants_;
  Scheduler& scheduler_;
  Lanes& lanes_;
  const Queues& queues_;
  Messages& messages_;
  Pulls& pulls_;

  std::map<Key, Run> runs_;
  Key worked_last_{};  ///< the next one's turn comes
  /// The numbers of all that are kept, running or not, oldest first. None is empty, and each is
  /// bounded by Limits.
  std::map<Group, std::deque<std::uint64_t>> kept_;
  std::set<std::pair<Moment, Key>> forget_at_;  ///< of those that are kept for a time
};

}  // namespace hk::core
