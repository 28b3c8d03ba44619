// Dead letters go back to work: what is visible in one queue moves into another, oldest first, a
// few per batch. Each is moved in the batch that counts it, so that a restart neither repeats nor
// forgets one; where a task stands is told by what is still there.
#include <algorithm>
#include <ranges>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/pull/room.h"
#include "core/queue/queues.h"
#include "core/task/tasks.h"

HK_SOMETIMES_DECLARE(message_moved_back)
HK_SOMETIMES_DECLARE(too_old_to_be_moved)
HK_SOMETIMES_DECLARE(move_task_completed)
HK_SOMETIMES_DECLARE(move_task_failed)
HK_SOMETIMES_DECLARE(move_task_canceled)
HK_SOMETIMES_DECLARE(move_task_waits_for_its_rate)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_refill)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_purge)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_resume)
HK_SOMETIMES_DECLARE(move_task_looks_again)

namespace hk::core {

namespace {

constexpr std::uint64_t one_message = 1000;   // of credit
constexpr std::uint64_t burst_part = 100;     // of credit: a tenth of a second's worth
constexpr std::size_t looks_per_message = 8;  // what is out is passed over

}  // namespace

Reply Tasks::decide(StartMoveTask command) {
  const Queue* const source = queues_.find_pulled(command.tenant, command.source);
  if (source == nullptr) {
    return no_queue(command.source);
  }
  if (!command.destination.empty()) {
    const Queue* const target = queues_.find_pulled(command.tenant, command.destination);
    if (target == nullptr) {
      return no_queue(command.destination);
    }
    if (target == source) {
      return fail(ErrorKind::invalid_argument, "a queue cannot be moved into itself");
    }
    if (target->pull->fifo != source->pull->fifo) {
      return fail(ErrorKind::invalid_argument,
                  "one of the two queues is FIFO and the other is not: they must be alike");
    }
  }
  if (find_move(command.tenant, command.source) != nullptr) {
    return fail(ErrorKind::conflict,
                "a task that moves messages of queue " + command.source + " is running already");
  }
  const auto kept = kept_.find({command.tenant, Task::Kind::move, command.source});
  Task task{.tenant = command.tenant,
            .number = kept == kept_.end() ? 1 : kept->second.back() + 1,
            .work = MoveMessages{std::move(command.source), std::move(command.destination)},
            .rate = command.rate,
            .total = pulls_.count(*source).visible,
            .started_at = batch_.now(),
            .up_to = context_.progress.last_message()};
  const std::uint64_t number = task.number;
  begin(std::move(task), MoveRun{.credit = one_message, .credited_at = batch_.now()});
  return TaskStarted{number};
}

Reply Tasks::decide(const CancelMoveTask& command) {
  Run* const run = find_move(command.tenant, command.source);
  if (run == nullptr || run->task.number != command.number) {
    return fail(ErrorKind::not_found, "no such task is running");
  }
  HK_SOMETIMES(move_task_canceled);
  const std::uint64_t moved = run->task.processed;
  end(*run, Task::Status::canceled, "");
  return MoveTaskCanceled{moved};
}

Reply Tasks::decide(const ListMoveTasks& command) {
  if (queues_.find_pulled(command.tenant, command.source) == nullptr) {
    return no_queue(command.source);
  }
  MoveTasksListed listed;
  const auto kept = kept_.find({command.tenant, Task::Kind::move, command.source});
  if (kept == kept_.end()) {
    return listed;
  }
  for (const std::uint64_t number : kept->second | std::views::reverse) {
    auto task = batch_.get<Task>(
        {command.tenant, static_cast<std::uint32_t>(Task::Kind::move), number, command.source});
    HK_ASSERT(task.has_value());
    listed.tasks.push_back(std::move(*task));
  }
  return listed;
}

/// The running one of that source; null: there is none.
Tasks::Run* Tasks::find_move(TenantId tenant, const std::string& source) {
  const auto kept = kept_.find({tenant, Task::Kind::move, source});
  if (kept == kept_.end()) {
    return nullptr;
  }
  const auto run = runs_.find(
      {tenant, static_cast<std::uint32_t>(Task::Kind::move), kept->second.back(), source});
  return run == runs_.end() ? nullptr : &run->second;
}

void Tasks::work(Run& run, MoveRun& at, std::size_t& budget, MoveRoom& room) {
  Task& task = run.task;
  const std::string& source = task.subject();
  if (queues_.is_swept({task.tenant, source})) {
    HK_SOMETIMES(move_task_waits_for_a_purge);
    return;  // until then nothing goes out, also of what came after the purge
  }
  if (is_paused(task)) {
    HK_SOMETIMES(move_task_waits_for_a_resume);
    return;
  }
  const Moment now = batch_.now();
  std::size_t most = budget;
  if (task.rate != 0) {
    const auto passed = static_cast<std::uint64_t>((now - at.credited_at).count());
    at.credit =
        std::min(at.credit + passed * task.rate, std::max(one_message, task.rate * burst_part));
    at.credited_at = now;
    most = std::min<std::size_t>(most, at.credit / one_message);
  }
  if (most == 0) {
    HK_SOMETIMES(move_task_waits_for_its_rate);
    return;
  }
  PullQueue& pull = scheduler_.pull_queue(task.tenant, source);
  std::size_t looks = most * looks_per_message;
  const std::uint64_t before = task.processed;
  while (task.processed - before < most && !room.is_used_up()) {
    Live* const live = scheduler_.pull_oldest(pull, at.after, task.up_to, looks, now);
    if (live == nullptr) {
      break;
    }
    if (pulls_.stops_its_group(*live)) {
      pulls_.become_visible(*live);  // the queue's settings have changed since it was last out
      continue;
    }
    if (!move_back(*live, run, room)) {
      return;  // it has failed, and wrote so
    }
    if (scheduler_.wants_refill(pull)) {
      HK_SOMETIMES(move_task_waits_for_a_refill);
      at.after = Seq{};  // older ones than those here may be read next
      break;
    }
  }
  budget -= std::min<std::size_t>(budget, task.processed - before);
  if (task.rate != 0) {
    at.credit -= (task.processed - before) * one_message;
  }
  if (task.processed != before) {
    batch_.put(Put<Task>{task});
  }
  if (at.after < task.up_to) {
    return;
  }
  // At the end of a round in which nothing came free and nothing can be read, nothing is left.
  if (!at.again && !scheduler_.wants_refill(pull)) {
    HK_SOMETIMES(move_task_completed);
    end(run, Task::Status::completed, "");
    return;
  }
  at.after = Seq{};
  at.again = false;
}

void Tasks::look_again(const LaneKey& lane, Seq freed) {
  if (runs_.empty()) {
    return;
  }
  Run* const run = find_move(lane.tenant, lane.queue);
  if (run != nullptr && freed <= run->task.up_to) {
    HK_SOMETIMES(move_task_looks_again);
    std::get<MoveRun>(run->place).again = true;
  }
}

/// As a new message; one that is too old ends instead. False: there is nowhere to move it to, and
/// the task is over. REQUIRES: leased.
bool Tasks::move_back(Live& live, Run& run, MoveRoom& room) {
  Task& task = run.task;
  const auto& [from, to] = std::get<MoveMessages>(task.work);
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr && message->pull);
  room.take(*message);
  const Queue* const source = queues_.find_pulled(task.tenant, from);
  HK_ASSERT(source != nullptr);
  if (Pulls::kept_until(*source, *message) <= batch_.now()) {
    HK_SOMETIMES(too_old_to_be_moved);
    pulls_.finish(live, Status::canceled);
    return true;
  }
  const std::string& name = to.empty() ? message->pull->moved_from : to;
  const Queue* const target = queues_.find_pulled(task.tenant, name);
  if (target == nullptr) {
    HK_SOMETIMES(move_task_failed);
    pulls_.become_visible(live);
    const char* const reason = name.empty() ? Task::came_from_nowhere : Task::destination_gone;
    end(run, Task::Status::failed, reason);
    return false;
  }
  auto moved = std::make_shared<Message>(*message);
  PullPart& part = *moved->pull;
  part.fifo = target->pull->fifo;
  part.first_id = MessageId{};
  part.moved_from.clear();
  part.receives_before = 0;
  part.first_received_at = Moment{};
  part.sent_at = Moment{};
  moved->queue = target->name;
  moved->not_before = Moment{};
  moved->dedup_id.clear();  // the window of the first one must not swallow it
  HK_SOMETIMES(message_moved_back);
  pulls_.finish(live, Status::canceled);
  messages_.accept(std::move(moved));
  ++task.processed;
  return true;
}

void Tasks::queue_gone(const Queue& queue) {
  const auto kept = kept_.find({queue.tenant, Task::Kind::move, queue.name});
  if (kept == kept_.end()) {
    return;
  }
  for (const std::uint64_t number : std::deque(kept->second)) {
    forget({queue.tenant, static_cast<std::uint32_t>(Task::Kind::move), number, queue.name});
  }
}

/// A queue that hands nothing out.
bool Tasks::is_paused(const Task& task) const {
  const Queue* const queue = queues_.find(task.tenant, task.subject());
  return queue != nullptr && queue->paused;
}

Moment Tasks::next_move(const Task& task, const MoveRun& at) const {
  if (is_paused(task)) {
    return never;  // the command that resumes it wakes us
  }
  if (task.rate != 0 && at.credit < one_message) {
    const std::uint64_t wait = (one_message - at.credit + task.rate - 1) / task.rate;
    return at.credited_at + Millis{static_cast<std::int64_t>(wait)};
  }
  return context_.progress.time();
}

}  // namespace hk::core
