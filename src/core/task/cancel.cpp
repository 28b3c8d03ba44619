// Bulk actions: what a filter selects is cancelled, lane by lane, a few per batch. Each is
// cancelled in the batch that counts it. A restart begins again: what is final, or being cancelled
// already, is passed over, so nothing is counted twice. A message only ever moves forward in its
// lane, so one walk meets all of them.
#include <algorithm>

#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/room.h"
#include "core/task/tasks.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(cancel_task_completed)
HK_SOMETIMES_DECLARE(cancel_task_goes_on_in_the_next_batch)
HK_SOMETIMES_DECLARE(cancel_task_leaves_alone_what_came_later)
HK_SOMETIMES_DECLARE(cancel_task_reached_its_count)

namespace hk::core {

namespace {

/// A task is written again with each piece of work: its filter is not to be a megabyte.
constexpr std::size_t filter_bytes_max = std::size_t{64} * 1024;

std::size_t bytes_of(const MessageFilter& filter) {
  std::size_t bytes = 0;
  for (const auto* const values :
       {&filter.urls, &filter.queues, &filter.topics, &filter.labels, &filter.flow_keys,
        &filter.caller_ips, &filter.hosts, &filter.paths, &filter.schedules}) {
    for (const std::string& value : *values) {
      bytes += value.size();
    }
  }
  return bytes;
}

}  // namespace

Reply Tasks::decide(StartCancelTask command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (bytes_of(command.what.filter) > filter_bytes_max) {
    return fail(ErrorKind::invalid_argument, "the filter has more than " +
                                                 std::to_string(filter_bytes_max) +
                                                 " bytes: too many for a bulk action");
  }
  const Group group{command.tenant, Task::Kind::cancel, {}};
  const auto kept = kept_.find(group);
  const auto running =
      std::ranges::count_if(runs_, [&](const auto& one) { return group_of(one.first) == group; });
  if (static_cast<std::size_t>(running) >= limits_.cancel_tasks_running) {
    return fail(ErrorKind::quota_reached,
                std::to_string(running) + " bulk actions are in progress: wait for one to finish");
  }
  // By its time: an id is not used again when the action that had it is forgotten.
  const auto now = static_cast<std::uint64_t>(to_ms(batch_.now()));
  Task task{.tenant = command.tenant,
            .number = kept == kept_.end() ? now : std::max(now, kept->second.back() + 1),
            .work = std::move(command.what),
            .started_at = batch_.now(),
            .up_to = context_.progress.last_message()};
  const std::uint64_t number = task.number;
  lanes_.index_soon(task.up_to);
  begin(std::move(task), CancelRun{.lane = {.tenant = command.tenant}});
  return TaskStarted{number};
}

void Tasks::work(Run& run, CancelRun& at, std::size_t& budget, MoveRoom& room) {
  Task& task = run.task;
  // Without an index entry a message cannot be found. Lanes hurry to write it.
  if (context_.progress.indexed_up_to() < task.up_to) {
    return;
  }
  const std::uint64_t before = task.processed;
  while (budget > 0 && !room.is_used_up()) {
    if (cancel_in_lane(task, at, budget, room)) {
      HK_SOMETIMES(cancel_task_completed);
      end(run, Task::Status::completed, "");
      return;
    }
  }
  HK_SOMETIMES(cancel_task_goes_on_in_the_next_batch);
  if (task.processed != before) {
    batch_.put(Put<Task>{task});
  }
}

/// True: that was all.
bool Tasks::cancel_in_lane(Task& task, CancelRun& at, std::size_t& budget, MoveRoom& room) {
  const CancelMessages& what = std::get<CancelMessages>(task.work);
  if (!what.filter.may_be_in(at.lane)) {
    --budget;
    return to_next_lane(task, at);
  }
  const std::size_t limit = budget;
  const auto entries = batch_.reader().lane_entries(at.lane, at.after, limit);
  for (const LaneEntry& entry : entries) {
    if (room.is_used_up()) {
      return false;
    }
    --budget;
    at.after = entry.place;
    if (entry.place.seq > task.up_to) {
      HK_SOMETIMES(cancel_task_leaves_alone_what_came_later);
      continue;
    }
    const auto message = batch_.get<Message>(entry.place.seq);
    if (message == nullptr) {
      continue;  // purged in this batch
    }
    room.look_at(*message);
    if (!what.filter.selects(*message) || !messages_.cancel_unless_over(*message)) {
      continue;
    }
    ++task.total;
    ++task.processed;
    if (task.processed == what.count_max) {
      HK_SOMETIMES(cancel_task_reached_its_count);
      return true;
    }
  }
  if (entries.size() == limit) {
    return false;
  }
  budget -= std::min<std::size_t>(budget, 1);  // the step to another lane costs a read, too
  return to_next_lane(task, at);
}

/// True: there is none.
bool Tasks::to_next_lane(const Task& task, CancelRun& at) {
  auto next = batch_.reader().next_lane(at.lane);
  if (!next || next->tenant != task.tenant) {
    return true;
  }
  at.lane = std::move(*next);
  at.after.reset();
  return false;
}

}  // namespace hk::core
