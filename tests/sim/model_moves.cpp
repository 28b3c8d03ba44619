// What tasks that move messages must mean: each message leaves one queue and is new in another in
// the same batch, and the task has counted it.
#include <algorithm>

#include "core/pull/size.h"
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using Status = core::Task::Status;

constexpr std::uint64_t one_message = 1000;  // of credit
constexpr std::uint64_t burst_part = 100;    // of credit: a tenth of a second's worth

bool is_move(const core::KeyOf<core::Task>& key) {
  return std::get<std::uint32_t>(key) == static_cast<std::uint32_t>(core::Task::Kind::move);
}

std::string task_name(const core::Task& task) {
  return "task " + std::to_string(task.number) + " of queue " + task.subject();
}

}  // namespace

void Model::change_move(const core::Task& task) { changed_moves_.insert(core::own_key(task)); }

Expected Model::start_move(const Op& op) {
  const Named key{op.tenant, op.name};
  const ModelQueue* const source = find_pull_queue(key);
  if (source == nullptr) {
    return refused(ErrorKind::not_found);
  }
  if (!op.destination.empty()) {
    const ModelQueue* const target = find_pull_queue({op.tenant, op.destination});
    if (target == nullptr) {
      return refused(ErrorKind::not_found);
    }
    if (target == source || target->pull->fifo != source->pull->fifo) {
      return refused(ErrorKind::invalid_argument);
    }
  }
  const auto known = moves_.find(key);
  if (known != moves_.end() && known->second.running()) {
    return refused(ErrorKind::conflict);
  }
  save(moves_, key);
  ModelMoves& moves = moves_[key];
  core::Task task{.tenant = op.tenant,
                  .number = moves.tasks.empty() ? 1 : moves.tasks.back().number + 1,
                  .work = core::MoveMessages{op.name, op.destination},
                  .rate = op.rate.value_or(0),
                  .started_at = time_,
                  .up_to = last_seq_};
  // What was visible the core counts roughly: never more than there is.
  task.total = Expected::unknown;
  const auto stored = written_->tasks.find(core::own_key(task));
  // Of a queue that was deleted and made again in this batch it may be a later task by this number.
  if (stored != written_->tasks.end() && stored->second && stored->second->up_to == task.up_to) {
    task.total = stored->second->total;
    require(task.total <= lag(key), "moves",
            task_name(task) + " would move " + std::to_string(task.total) + " of " +
                std::to_string(lag(key)));
  }
  change_move(task);
  moves.tasks.push_back(task);
  moves.credit = one_message;
  moves.credited_at = time_;
  while (moves.tasks.size() > limits_.move_tasks_kept) {
    change_move(moves.tasks.front());
    moves.tasks.erase(moves.tasks.begin());
  }
  return {.kind = Expected::Kind::task_started, .number = task.number};
}

Expected Model::cancel_move(const Op& op) {
  const Named key{op.tenant, op.name};
  const auto found = moves_.find(key);
  if (found == moves_.end() || !found->second.running() ||
      found->second.tasks.back().number != op.move_number) {
    return refused(ErrorKind::not_found);
  }
  save(moves_, key);
  core::Task& task = found->second.tasks.back();
  task.status = Status::canceled;
  task.ended_at = time_;
  change_move(task);
  return {.kind = Expected::Kind::move_canceled, .number = task.processed};
}

Expected Model::list_moves(const Op& op) {
  const Named key{op.tenant, op.name};
  if (find_pull_queue(key) == nullptr) {
    return refused(ErrorKind::not_found);
  }
  Expected listed{.kind = Expected::Kind::moves_listed};
  if (const auto found = moves_.find(key); found != moves_.end()) {
    listed.tasks.assign(found->second.tasks.rbegin(), found->second.tasks.rend());
  }
  return listed;
}

void Model::end_moves_of(const Named& source) {
  const auto found = moves_.find(source);
  if (found == moves_.end()) {
    return;
  }
  for (const core::Task& task : found->second.tasks) {
    change_move(task);
  }
  save(moves_, source);
  moves_.erase(found);
}

/// In the order of the log: what ends by itself, and what ends in front of a message that nobody
/// has published, which is the same one in another queue.
void Model::move_and_end() {
  std::size_t moved = 0;
  std::size_t bytes = 0;
  std::size_t bytes_of_last = 0;
  // Events are by tenant: who of two tenants moved first is not known.
  const core::Seq behind = last_seq_;
  for (const core::Events& events : written_->events) {
    for (std::size_t i = 0; i < events.events.size(); ++i) {
      const core::EventRef& one = events.events[i];
      if (one.kind != core::EventKind::canceled) {
        continue;
      }
      const core::EventRef next =
          i + 1 < events.events.size() ? events.events[i + 1] : core::EventRef{};
      if (next.kind == core::EventKind::created && !messages_.contains(next.seq)) {
        bytes_of_last = move_back(events.tenant, one.seq, next.seq, behind);
        bytes += bytes_of_last;
        ++moved;
      } else {
        end_pulled(one.seq);
      }
    }
  }
  require(
      moved <= limits_.moves_per_batch && bytes - bytes_of_last <= limits_.moved_bytes_per_batch,
      "bounded",
      std::to_string(moved) + " messages of " + std::to_string(bytes) +
          " bytes moved in one batch");
}

/// How large it is.
std::size_t Model::move_back(core::TenantId tenant, core::Seq from, core::Seq to,
                             core::Seq behind) {
  const auto found = messages_.find(from);
  require(found != messages_.end() && found->second.pulled(), "moves",
          name_of(from) + " was moved and cannot be");
  check_may_go(tenant, from);
  const ModelMessage& message = found->second;
  const Named source{tenant, message.content->queue};
  const auto moves = moves_.find(source);
  require(moves != moves_.end() && moves->second.running(), "moves",
          describe(message) + " was moved by no task");
  save(moves_, source);
  core::Task& task = moves->second.tasks.back();
  require(from <= task.up_to, "moves", describe(message) + " came after the start of its task");
  require(last_moved_[source] < from, "moves", describe(message) + " was not the oldest");
  last_moved_[source] = from;
  spend_credit(moves->second);

  core::Message want = *message.content;
  const std::size_t bytes = core::pulled_bytes(want);
  const std::string& to_queue = std::get<core::MoveMessages>(task.work).destination;
  want.queue = to_queue.empty() ? want.pull->moved_from : to_queue;
  const ModelQueue* const target = find_pull_queue({tenant, want.queue});
  require(target != nullptr, "moves", describe(message) + " was moved to nowhere");
  want.pull->fifo = target->pull->fifo;
  want.pull->first_id = {};
  want.pull->moved_from.clear();
  want.pull->receives_before = 0;
  want.pull->first_received_at = Moment{};
  want.pull->sent_at = Moment{};
  want.not_before = Moment{};
  want.dedup_id.clear();
  const auto got =
      std::ranges::find(written_->messages, to, [](const auto& one) { return one->id.seq; });
  require(got != written_->messages.end() && to > behind, "moves",
          describe(message) + " left its queue and did not arrive");
  finish(from, core::Status::canceled);
  take_in(*got, std::move(want));
  ++next_message_;
  ++task.processed;
  change_move(task);
  return bytes;
}

void Model::spend_credit(ModelMoves& moves) {
  const core::Task& task = moves.tasks.back();
  if (task.rate == 0) {
    return;
  }
  const auto passed = static_cast<std::uint64_t>((time_ - moves.credited_at).count());
  moves.credit =
      std::min(moves.credit + passed * task.rate, std::max(one_message, task.rate * burst_part));
  moves.credited_at = time_;
  require(moves.credit >= one_message, "rate", "of " + task_name(task) + " exceeded");
  moves.credit -= one_message;
}

/// A running task ends when the core finds that it is done: only then.
void Model::end_moves() {
  for (const auto& [key, stored] : written_->tasks) {
    const core::Task* const known = is_move(key) ? find_move(key) : nullptr;
    if (!stored || known == nullptr || known->status != Status::running ||
        stored->status == Status::running) {
      continue;
    }
    require(!queues_.at({known->tenant, known->subject()}).paused, "pause",
            task_name(*known) + " ended although its queue is paused");
    if (stored->status == Status::completed) {
      check_nothing_left(*known);
    } else {
      require(stored->status == Status::failed && has_nowhere_to_go(*known, stored->reason),
              "moves", task_name(*known) + " ended for no reason");
      taken_in_vain_.insert({known->tenant, known->subject()});
    }
    const Named source{known->tenant, known->subject()};
    save(moves_, source);
    core::Task& task = moves_.at(source).tasks.back();
    task.status = stored->status;
    task.reason = stored->reason;
    task.ended_at = time_;
    change_move(task);
  }
}

/// What has been visible ever since the task began.
void Model::check_nothing_left(const core::Task& task) const {
  const Named source{task.tenant, task.subject()};
  const auto written = written_->queues.find(source);
  const bool purge_done = written != written_->queues.end() && written->second &&
                          written->second->sweep_up_to == core::Seq{};
  require(!queues_.at(source).sweeping || purge_done, "moves",
          task_name(task) + " is done before a purge is");
  for (auto lane = pull_lanes_.lower_bound({task.tenant, task.subject(), {}, {}, {}});
       lane != pull_lanes_.end() && lane->first.tenant == task.tenant &&
       lane->first.queue == task.subject();
       ++lane) {
    // What a bulk action has freed later in this batch was not visible when the task ended.
    if (std::ranges::any_of(canceled_by_tasks_, [&](core::Seq seq) {
          return core::lane_of(*messages_.at(seq).content) == lane->first;
        })) {
      continue;
    }
    for (const core::Seq seq : lane->second.all) {
      const ModelMessage& message = messages_.at(seq);
      require(seq > task.up_to || message.due > task.started_at || swept(*message.content) ||
                  stops(message) || message.forgiven > 0,
              "moves", task_name(task) + " is done and has left " + describe(message));
      if (lane->first.ordered()) {
        break;
      }
    }
  }
}

bool Model::has_nowhere_to_go(const core::Task& task, const std::string& reason) {
  const ModelQueue& source = queues_.at({task.tenant, task.subject()});
  return std::ranges::any_of(messages_, [&](const auto& one) {
    const ModelMessage& message = one.second;
    const core::Message& content = *message.content;
    // What a bulk action has ended later in this batch was there when the task ended.
    const bool over = core::is_final(message.status) &&
                      std::ranges::find(canceled_by_tasks_, one.first) == canceled_by_tasks_.end();
    if (!message.pulled() || over || content.tenant != task.tenant ||
        content.queue != task.subject() || one.first > task.up_to ||
        !may_be_visible(message, source)) {
      return false;
    }
    const std::string& named = std::get<core::MoveMessages>(task.work).destination;
    const std::string& to = named.empty() ? content.pull->moved_from : named;
    return find_pull_queue({task.tenant, to}) == nullptr &&
           reason == (to.empty() ? core::Task::came_from_nowhere : core::Task::destination_gone);
  });
}

const core::Task* Model::find_move(const core::KeyOf<core::Task>& key) const {
  const auto& [tenant, kind, number, source] = key;
  const auto found = moves_.find({tenant, source});
  if (found == moves_.end()) {
    return nullptr;
  }
  const auto task = std::ranges::find(found->second.tasks, number, &core::Task::number);
  return task == found->second.tasks.end() ? nullptr : &*task;
}

void Model::compare_moves() const {
  for (const auto& key : changed_moves_) {
    require(written_->tasks.contains(key), "moves",
            "a task of queue " + std::get<std::string>(key) + " changed and is not stored");
  }
  for (const auto& [key, stored] : written_->tasks) {
    if (!is_move(key)) {
      continue;
    }
    const core::Task* const want = find_move(key);
    require(stored.has_value() == (want != nullptr) && (!stored || *stored == *want), "moves",
            "a task of queue " + std::get<std::string>(key) + " is stored differently");
  }
}

}  // namespace hk::sim
