// Dead letters go back to work: what is visible in one queue moves into another, oldest first, a
// few per batch. Each is moved in the batch that counts it, so that a restart neither repeats nor
// forgets one; where a task stands is told by what is still there.
#include "core/pull/move_task.h"

#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/pull/documents.h"
#include "core/pull/no_queue.h"
#include "core/pull/size.h"
#include "core/queue/in_turn.h"

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

Reply Machine::decide(StartMoveTask command) {
  const Queue* const source = find_pull_queue(command.tenant, command.source);
  if (source == nullptr) {
    return no_queue(command.source);
  }
  if (!command.destination.empty()) {
    const Queue* const target = find_pull_queue(command.tenant, command.destination);
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
  if (move_runs_.contains(key)) {
    return fail(ErrorKind::conflict,
                "a task that moves messages of queue " + command.source + " is running already");
  }
  std::deque<MoveTask>& tasks = move_tasks_[key];
  MoveTask task{.tenant = command.tenant,
                .source = std::move(command.source),
                .number = tasks.empty() ? 1 : tasks.back().number + 1,
                .destination = std::move(command.destination),
                .rate = command.rate,
                .started_at = batch_.now(),
                .up_to = last_seq_};
  const Reply counted = decide(CountQueue{task.tenant, task.source});
  task.to_move = std::get<QueueCounted>(*counted).visible;
  batch_.put_document(to_document(task));
  tasks.push_back(std::move(task));
  while (tasks.size() > limits_.move_tasks_kept) {
    HK_SOMETIMES(move_task_forgotten);
    const Document oldest = to_document(tasks.front());
    batch_.delete_document(oldest.tenant, oldest.kind, oldest.name);
    tasks.pop_front();
  }
  move_runs_[key] = {.credit = one_message, .credited_at = batch_.now()};
  return MoveTaskStarted{tasks.back().number};
}

Reply Machine::decide(const CancelMoveTask& command) {
  const QueueKey key{command.tenant, command.source};
  const auto tasks = move_tasks_.find(key);
  if (!move_runs_.contains(key) || tasks->second.back().number != command.number) {
    return fail(ErrorKind::not_found, "no such task is running");
  }
  HK_SOMETIMES(move_task_canceled);
  MoveTask& task = tasks->second.back();
  end_move(task, MoveTask::Status::canceled, "");
  return MoveTaskCanceled{task.moved};
}

Reply Machine::decide(const ListMoveTasks& command) {
  if (find_pull_queue(command.tenant, command.source) == nullptr) {
    return no_queue(command.source);
  }
  MoveTasksListed listed;
  if (const auto found = move_tasks_.find({command.tenant, command.source});
      found != move_tasks_.end()) {
    listed.tasks.assign(found->second.rbegin(), found->second.rend());
  }
  return listed;
}

void Machine::run_moves() {
  if (move_runs_.empty() || !starting_) {
    return;
  }
  MoveRoom room = room_for_moves();
  in_turn(move_runs_, moved_last_, limits_.moves_per_batch,
          [&](const QueueKey& key, MoveRun& run, std::size_t& budget) {
            move_some(move_tasks_.at(key).back(), run, budget, room);
            return false;  // its end has taken it away
          });
}

void Machine::MoveRoom::hand_out(const Message& message) {
  handed_bytes -= std::min(handed_bytes, pulled_bytes(message));
}

void Machine::MoveRoom::take(const Message& message) {
  messages -= std::min<std::size_t>(messages, 1);
  bytes -= std::min(bytes, pulled_bytes(message));
}

void Machine::move_some(MoveTask& task, MoveRun& run, std::size_t& budget, MoveRoom& room) {
  if (sweeps_.contains({task.tenant, task.source})) {
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
    if (stops_its_group(*live)) {
      become_visible(*live);  // the queue's settings have changed since it was last out
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
    batch_.put_document(to_document(task));
  }
  if (run.after < task.up_to) {
    return;
  }
  // At the end of a round in which nothing came free and nothing can be read, nothing is left.
  if (!run.again && !scheduler_.wants_refill(pull)) {
    HK_SOMETIMES(move_task_completed);
    end_move(task, MoveTask::Status::completed, "");
    return;
  }
  run.after = Seq{};
  run.again = false;
}

/// What waited behind this one, or this one itself, may be free although a task has passed it over.
/// What came after the task's start frees nothing that it owes.
void Machine::look_again(const LaneKey& lane, Seq freed) {
  if (move_runs_.empty()) {
    return;
  }
  const auto found = move_runs_.find({lane.tenant, lane.queue});
  if (found != move_runs_.end() && freed <= move_tasks_.at(found->first).back().up_to) {
    HK_SOMETIMES(move_task_looks_again);
    found->second.again = true;
  }
}

/// As a new message; one that is too old ends instead. False: there is nowhere to move it to, and
/// the task is over. REQUIRES: leased.
bool Machine::move_back(Live& live, MoveTask& task, MoveRoom& room) {
  const auto message = batch_.message(live.seq);
  HK_ASSERT(message != nullptr && message->pull);
  room.take(*message);
  const Queue* const source = find_pull_queue(task.tenant, task.source);
  HK_ASSERT(source != nullptr);
  if (kept_until(*source, *message) <= batch_.now()) {
    HK_SOMETIMES(too_old_to_be_moved);
    finish_pulled(live, Status::canceled);
    return true;
  }
  const std::string& name = task.destination.empty() ? message->pull->moved_from : task.destination;
  const Queue* const target = find_pull_queue(task.tenant, name);
  if (target == nullptr) {
    HK_SOMETIMES(move_task_failed);
    become_visible(live);
    end_move(task, MoveTask::Status::failed,
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
  finish_pulled(live, Status::canceled);
  accept(std::move(moved));
  ++task.moved;
  return true;
}

void Machine::end_move(MoveTask& task, MoveTask::Status status, const char* reason) {
  task.status = status;
  task.reason = reason;
  task.ended_at = batch_.now();
  batch_.put_document(to_document(task));
  move_runs_.erase({task.tenant, task.source});
}

/// The queue is deleted. Tasks into it fail when they next move something.
void Machine::end_moves_of(const Queue& queue) {
  const auto found = move_tasks_.find({queue.tenant, queue.name});
  if (found == move_tasks_.end()) {
    return;
  }
  for (const MoveTask& task : found->second) {
    const Document document = to_document(task);
    batch_.delete_document(document.tenant, document.kind, document.name);
  }
  move_runs_.erase(found->first);
  move_tasks_.erase(found);
}

void Machine::recover_moves(TenantId tenant) {
  for_each_document(batch_.reader(), tenant, move_task_kind, [&](const Document& document) {
    auto task = to_move_task(document);
    if (!task) {
      throw CorruptRecord("move task " + document.name);
    }
    const QueueKey key{tenant, task->source};
    if (task->status == MoveTask::Status::running) {
      HK_SOMETIMES(move_task_goes_on_after_restart);
      move_runs_[key] = {.credited_at = batch_.now()};
    }
    move_tasks_[key].push_back(std::move(*task));
  });
}

/// A queue that hands nothing out.
bool Machine::is_paused(const QueueKey& key) const {
  const auto found = queues_.find(key);
  return found != queues_.end() && found->second.paused;
}

std::optional<Moment> Machine::next_move() const {
  std::optional<Moment> next;
  if (!starting_) {
    return next;
  }
  for (const auto& [key, run] : move_runs_) {
    if (is_paused(key)) {
      continue;  // the command that resumes it wakes us
    }
    const std::uint64_t rate = move_tasks_.at(key).back().rate;
    Moment at = meta_.time;
    if (rate != 0 && run.credit < one_message) {
      const std::uint64_t wait = (one_message - run.credit + rate - 1) / rate;
      at = run.credited_at + Millis{static_cast<std::int64_t>(wait)};
    }
    next = std::min(next.value_or(at), at);
  }
  return next;
}

}  // namespace hk::core
