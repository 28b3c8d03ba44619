// Dead letters go back to work: what is visible in one queue moves into another, oldest first, a
// few per batch. Each is moved in the batch that counts it, so that a restart neither repeats nor
// forgets one; where a task stands is told by what is still there.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/move/document.h"
#include "core/move/moves.h"
#include "core/pull/documents.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/pull/room.h"
#include "core/queue/in_turn.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(message_moved_back)
HK_SOMETIMES_DECLARE(too_old_to_be_moved)
HK_SOMETIMES_DECLARE(move_task_completed)
HK_SOMETIMES_DECLARE(move_task_failed)
HK_SOMETIMES_DECLARE(move_task_canceled)
HK_SOMETIMES_DECLARE(move_task_forgotten)
HK_SOMETIMES_DECLARE(move_task_waits_for_its_rate)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_refill)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_purge)
HK_SOMETIMES_DECLARE(move_task_waits_for_a_resume)
HK_SOMETIMES_DECLARE(move_task_looks_again)
HK_SOMETIMES_DECLARE(move_task_goes_on_after_restart)

namespace hk::core {

namespace {

constexpr std::uint64_t one_message = 1000;   // of credit
constexpr std::uint64_t burst_part = 100;     // of credit: a tenth of a second's worth
constexpr std::size_t looks_per_message = 8;  // what is out is passed over

}  // namespace

Reply Moves::execute(MoveCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Reply Moves::decide(StartMoveTask command) {
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
  const QueueKey key{command.tenant, command.source};
  if (runs_.contains(key)) {
    return fail(ErrorKind::conflict,
                "a task that moves messages of queue " + command.source + " is running already");
  }
  std::deque<MoveTask>& tasks = tasks_[key];
  MoveTask task{.tenant = command.tenant,
                .source = std::move(command.source),
                .number = tasks.empty() ? 1 : tasks.back().number + 1,
                .destination = std::move(command.destination),
                .rate = command.rate,
                .started_at = batch_.now(),
                .up_to = context_.progress.last_message()};
  task.to_move = pulls_.count(*source).visible;
  batch_.put(Put<Document>{to_document(task)});
  tasks.push_back(std::move(task));
  while (tasks.size() > limits_.move_tasks_kept) {
    HK_SOMETIMES(move_task_forgotten);
    const Document oldest = to_document(tasks.front());
    batch_.erase<Document>(oldest.tenant, oldest.kind, oldest.name);
    tasks.pop_front();
  }
  runs_[key] = {.credit = one_message, .credited_at = batch_.now()};
  return MoveTaskStarted{tasks.back().number};
}

Reply Moves::decide(const CancelMoveTask& command) {
  const QueueKey key{command.tenant, command.source};
  const auto tasks = tasks_.find(key);
  if (!runs_.contains(key) || tasks->second.back().number != command.number) {
    return fail(ErrorKind::not_found, "no such task is running");
  }
  HK_SOMETIMES(move_task_canceled);
  MoveTask& task = tasks->second.back();
  end(task, MoveTask::Status::canceled, "");
  return MoveTaskCanceled{task.moved};
}

Reply Moves::decide(const ListMoveTasks& command) {
  if (queues_.find_pulled(command.tenant, command.source) == nullptr) {
    return no_queue(command.source);
  }
  MoveTasksListed listed;
  if (const auto found = tasks_.find({command.tenant, command.source}); found != tasks_.end()) {
    listed.tasks.assign(found->second.rbegin(), found->second.rend());
  }
  return listed;
}

void Moves::advance() {
  if (runs_.empty() || !context_.starting) {
    return;
  }
  MoveRoom room(limits_);
  in_turn(runs_, moved_last_, limits_.moves_per_batch,
          [&](const QueueKey& key, Run& run, std::size_t& budget) {
            move_some(tasks_.at(key).back(), run, budget, room);
            return false;  // its end has taken it away
          });
}

void Moves::move_some(MoveTask& task, Run& run, std::size_t& budget, MoveRoom& room) {
  if (queues_.is_swept({task.tenant, task.source})) {
    HK_SOMETIMES(move_task_waits_for_a_purge);
    return;  // until then nothing goes out, also of what came after the purge
  }
  if (is_paused({task.tenant, task.source})) {
    HK_SOMETIMES(move_task_waits_for_a_resume);
    return;
  }
  const Moment now = batch_.now();
  std::size_t most = budget;
  if (task.rate != 0) {
    const auto passed = static_cast<std::uint64_t>((now - run.credited_at).count());
    run.credit =
        std::min(run.credit + passed * task.rate, std::max(one_message, task.rate * burst_part));
    run.credited_at = now;
    most = std::min<std::size_t>(most, run.credit / one_message);
  }
  if (most == 0) {
    HK_SOMETIMES(move_task_waits_for_its_rate);
    return;
  }
  PullQueue& pull = scheduler_.pull_queue(task.tenant, task.source);
  std::size_t looks = most * looks_per_message;
  const std::uint64_t before = task.moved;
  while (task.moved - before < most && !room.is_used_up()) {
    Live* const live = scheduler_.pull_oldest(pull, run.after, task.up_to, looks, now);
    if (live == nullptr) {
      break;
    }
    if (pulls_.stops_its_group(*live)) {
      pulls_.become_visible(*live);  // the queue's settings have changed since it was last out
      continue;
    }
    if (!move_back(*live, task, room)) {
      return;  // it has failed, and wrote so
    }
    if (scheduler_.wants_refill(pull)) {
      HK_SOMETIMES(move_task_waits_for_a_refill);
      run.after = Seq{};  // older ones than those here may be read next
      break;
    }
  }
  budget -= std::min<std::size_t>(budget, task.moved - before);
  if (task.rate != 0) {
    run.credit -= (task.moved - before) * one_message;
  }
  if (task.moved != before) {
    batch_.put(Put<Document>{to_document(task)});
  }
  if (run.after < task.up_to) {
    return;
  }
  // At the end of a round in which nothing came free and nothing can be read, nothing is left.
  if (!run.again && !scheduler_.wants_refill(pull)) {
    HK_SOMETIMES(move_task_completed);
    end(task, MoveTask::Status::completed, "");
    return;
  }
  run.after = Seq{};
  run.again = false;
}

void Moves::look_again(const LaneKey& lane, Seq freed) {
  if (runs_.empty()) {
    return;
  }
  const auto found = runs_.find({lane.tenant, lane.queue});
  if (found != runs_.end() && freed <= tasks_.at(found->first).back().up_to) {
    HK_SOMETIMES(move_task_looks_again);
    found->second.again = true;
  }
}

/// As a new message; one that is too old ends instead. False: there is nowhere to move it to, and
/// the task is over. REQUIRES: leased.
bool Moves::move_back(Live& live, MoveTask& task, MoveRoom& room) {
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr && message->pull);
  room.take(*message);
  const Queue* const source = queues_.find_pulled(task.tenant, task.source);
  HK_ASSERT(source != nullptr);
  if (Pulls::kept_until(*source, *message) <= batch_.now()) {
    HK_SOMETIMES(too_old_to_be_moved);
    pulls_.finish(live, Status::canceled);
    return true;
  }
  const std::string& name = task.destination.empty() ? message->pull->moved_from : task.destination;
  const Queue* const target = queues_.find_pulled(task.tenant, name);
  if (target == nullptr) {
    HK_SOMETIMES(move_task_failed);
    pulls_.become_visible(live);
    end(task, MoveTask::Status::failed,
        name.empty() ? MoveTask::came_from_nowhere : MoveTask::destination_gone);
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
  ++task.moved;
  return true;
}

void Moves::end(MoveTask& task, MoveTask::Status status, const char* reason) {
  task.status = status;
  task.reason = reason;
  task.ended_at = batch_.now();
  batch_.put(Put<Document>{to_document(task)});
  runs_.erase({task.tenant, task.source});
}

void Moves::queue_gone(const Queue& queue) {
  const auto found = tasks_.find({queue.tenant, queue.name});
  if (found == tasks_.end()) {
    return;
  }
  for (const MoveTask& task : found->second) {
    const Document document = to_document(task);
    batch_.erase<Document>(document.tenant, document.kind, document.name);
  }
  runs_.erase(found->first);
  tasks_.erase(found);
}

void Moves::recover(Reader& reader, TenantId tenant) {
  for_each_document(reader, tenant, move_task_kind, [&](const Document& document) {
    auto task = to_move_task(document);
    if (!task) {
      throw CorruptRecord("move task " + document.name);
    }
    const QueueKey key{tenant, task->source};
    if (task->status == MoveTask::Status::running) {
      HK_SOMETIMES(move_task_goes_on_after_restart);
      runs_[key] = {.credited_at = batch_.now()};
    }
    tasks_[key].push_back(std::move(*task));
  });
}

/// A queue that hands nothing out.
bool Moves::is_paused(const QueueKey& key) const {
  const Queue* const queue = queues_.find(key.first, key.second);
  return queue != nullptr && queue->paused;
}

Moment Moves::wake_at() const {
  Moment next = never;
  if (!context_.starting) {
    return next;
  }
  for (const auto& [key, run] : runs_) {
    if (is_paused(key)) {
      continue;  // the command that resumes it wakes us
    }
    const std::uint64_t rate = tasks_.at(key).back().rate;
    Moment at = context_.progress.time();
    if (rate != 0 && run.credit < one_message) {
      const std::uint64_t wait = (one_message - run.credit + rate - 1) / rate;
      at = run.credited_at + Millis{static_cast<std::int64_t>(wait)};
    }
    next = std::min(next, at);
  }
  return next;
}

}  // namespace hk::core
