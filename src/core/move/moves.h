/// Tasks that move messages from one queue that is pulled from into another: dead letters go back
/// to work. A component (component.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"
#include "core/queue/key.h"

namespace hk::core {

class Messages;
class Pulls;
class Queues;
struct MoveRoom;

class Moves : Component {
 public:
  Moves(Context& context, Scheduler& scheduler, const Queues& queues, Messages& messages,
        Pulls& pulls)
      : Component(context),
        scheduler_(scheduler),
        queues_(queues),
        messages_(messages),
        pulls_(pulls) {}

  void recover(Reader& reader, TenantId tenant);
  Reply execute(MoveCommand&& command);
  void advance();
  [[nodiscard]] Moment wake_at() const;

  /// What waited behind this one, or this one itself, may be free although a task has passed it
  /// over. What came after the task's start frees nothing that it owes.
  void look_again(const LaneKey& lane, Seq freed);
  /// The queue is deleted. Tasks into it fail when they next move something.
  void queue_gone(const Queue& queue);

 private:
  /// How far a running task is, in memory. A restart begins at the first message again.
  struct Run {
    Seq after{};
    bool again = false;        ///< what it has passed over may be free by now
    std::uint64_t credit = 0;  ///< of its rate, in thousandths of a message
    Moment credited_at{};
  };

  Reply decide(StartMoveTask command);
  Reply decide(const CancelMoveTask& command);
  Reply decide(const ListMoveTasks& command);

  void move_some(MoveTask& task, Run& run, std::size_t& budget, MoveRoom& room);
  bool move_back(Live& live, MoveTask& task, MoveRoom& room);
  void end(MoveTask& task, MoveTask::Status status, const char* reason);
  [[nodiscard]] bool is_paused(const QueueKey& key) const;

  Scheduler& scheduler_;
  const Queues& queues_;
  Messages& messages_;
  Pulls& pulls_;

  /// By source, oldest first: at most Limits::move_tasks_kept each.
  std::map<QueueKey, std::deque<MoveTask>> tasks_;
  std::map<QueueKey, Run> runs_;
  QueueKey moved_last_{};  ///< the next one's turn comes
};

}  // namespace hk::core
