#include "core/task/tasks.h"

#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/pull/room.h"
#include "core/queue/in_turn.h"

HK_SOMETIMES_DECLARE(task_forgotten)
HK_SOMETIMES_DECLARE(task_forgotten_after_its_time)
HK_SOMETIMES_DECLARE(task_goes_on_after_restart)

namespace hk::core {

Reply Tasks::execute(TaskCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Tasks::Group Tasks::group_of(const Key& key) {
  const auto& [tenant, kind, number, subject] = key;
  return {tenant, static_cast<Task::Kind>(kind), subject};
}

void Tasks::begin(Task task, Place place) {
  batch_.put(Put<Task>{task});
  const Key key = own_key(task);
  const std::size_t max =
      task.kind() == Task::Kind::move ? limits_.move_tasks_kept : limits_.cancel_tasks_kept;
  go_on_with(std::move(task), std::move(place));
  auto& numbers = kept_[group_of(key)];
  numbers.push_back(std::get<std::uint64_t>(key));
  while (numbers.size() > max) {
    Key oldest = key;
    const auto ended = std::ranges::find_if(numbers, [&](std::uint64_t number) {
      std::get<std::uint64_t>(oldest) = number;
      return !runs_.contains(oldest);
    });
    if (ended == numbers.end()) {
      return;
    }
    HK_SOMETIMES(task_forgotten);
    forget(oldest);
  }
}

void Tasks::go_on_with(Task task, Place place) {
  Key key = own_key(task);
  runs_.insert_or_assign(std::move(key), Run{std::move(task), std::move(place)});
}

/// The run is gone with it.
Task Tasks::end(Run& run, Task::Status status, const char* reason) {
  Task task = std::move(run.task);
  const Key key = own_key(task);
  runs_.erase(key);
  task.status = status;
  task.reason = reason;
  task.ended_at = batch_.now();
  if (task.kind() != Task::Kind::move) {
    forget_at_.emplace(kept_until(task), key);
  }
  batch_.put(Put<Task>{task});
  if (is_of_webhooks(task.kind())) {
    tell_of_end(task);
  }
  return task;
}

Moment Tasks::kept_until(const Task& task) const {
  return task.started_at + (is_of_webhooks(task.kind()) ? limits_.webhook_tasks_kept_for
                                                        : limits_.cancel_tasks_kept_for);
}

bool Tasks::is_of_webhooks(Task::Kind kind) {
  return kind == Task::Kind::webhook_replay || kind == Task::Kind::webhook_expunge;
}

void Tasks::flush() {
  for (const Key& key : std::exchange(dirty_, {})) {
    if (const auto run = runs_.find(key); run != runs_.end()) {
      batch_.put(Put<Task>{run->second.task});
    }
  }
}

void Tasks::forget(const Key& key) {
  batch_.put(Erase<Task>{key});
  runs_.erase(key);
  std::erase_if(forget_at_, [&](const auto& one) { return one.second == key; });
  const auto kept = kept_.find(group_of(key));
  HK_ASSERT(kept != kept_.end());
  std::erase(kept->second, std::get<std::uint64_t>(key));
  if (kept->second.empty()) {
    kept_.erase(kept);
  }
}

void Tasks::forget_old() {
  for (std::size_t left = limits_.moves_per_batch;
       left > 0 && !forget_at_.empty() && forget_at_.begin()->first <= batch_.now(); --left) {
    HK_SOMETIMES(task_forgotten_after_its_time);
    forget(Key(forget_at_.begin()->second));
  }
}

void Tasks::advance() {
  forget_old();
  end_settled();
  if (runs_.empty() || !context_.starting) {
    return;
  }
  MoveRoom room(limits_);
  in_turn(runs_, worked_last_, limits_.moves_per_batch,
          [&](const Key& /*key*/, Run& run, std::size_t& budget) {
            std::visit([&](auto& place) { work(run, place, budget, room); }, run.place);
            return false;  // its end has taken it away
          });
}

void Tasks::recover(Reader& reader) {
  for (Task& task : reader.scan<Task>()) {
    const Key key = own_key(task);
    kept_[group_of(key)].push_back(task.number);
    const Task::Kind kind = task.kind();
    if (task.status == Task::Status::running || task.status == Task::Status::paused) {
      HK_SOMETIMES(task_goes_on_after_restart);
      const LaneKey first{.tenant = task.tenant};
      switch (kind) {
        case Task::Kind::move:
          go_on_with(std::move(task), MoveRun{.credited_at = batch_.now()});
          break;
        case Task::Kind::cancel: go_on_with(std::move(task), CancelRun{.lane = first}); break;
        case Task::Kind::webhook_replay:
          settled_.insert(key);  // its last delivery may have ended just before
          go_on_with(std::move(task), ReplayRun{.credited_at = batch_.now()});
          break;
        case Task::Kind::webhook_expunge: go_on_with(std::move(task), ExpungeRun{}); break;
      }
    } else if (kind != Task::Kind::move) {
      forget_at_.emplace(kept_until(task), key);
    }
  }
}

Moment Tasks::wake_at() const {
  if (!settled_.empty()) {
    return context_.progress.time();
  }
  Moment next = forget_at_.empty() ? never : forget_at_.begin()->first;
  if (context_.starting) {
    for (const auto& [key, run] : runs_) {
      next = std::min(next, wake_at(run));
    }
  }
  return next;
}

Moment Tasks::wake_at(const Run& run) const {
  if (const auto* const move = std::get_if<MoveRun>(&run.place)) {
    return next_move(run.task, *move);
  }
  if (const auto* const replay = std::get_if<ReplayRun>(&run.place)) {
    return next_replay(run.task, *replay);
  }
  return context_.progress.time();
}

}  // namespace hk::core
