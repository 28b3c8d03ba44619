// What tasks that cancel messages must mean: of what was there when one started, all that it
// selects and that does not end by itself before is cancelled, each once, and the task has counted
// it.
#include <algorithm>
#include <limits>

#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

using TaskStatus = core::Task::Status;

constexpr auto cancel_kind = static_cast<std::uint32_t>(core::Task::Kind::cancel);

bool none_or_one_of(const std::vector<std::string>& values, const std::string& one) {
  return values.empty() || std::ranges::find(values, one) != values.end();
}

bool selects(const core::Task& task, const ModelMessage& message) {
  const core::MessageFilter& filter = std::get<core::CancelMessages>(task.work).filter;
  const core::Message& content = *message.content;
  if (content.tenant != task.tenant || content.id.seq > task.up_to ||
      content.created_at > filter.to) {
    return false;
  }
  if (filter.queues.empty() && (message.pulled() || content.notification)) {
    return false;
  }
  return none_or_one_of(filter.queues, content.queue) && none_or_one_of(filter.urls, content.url) &&
         none_or_one_of(filter.flow_keys, content.flow_key);
}

std::string cancel_name(const core::Task& task) {
  return "bulk action " + std::to_string(task.number);
}

}  // namespace

Expected Model::start_cancel(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const auto first = cancels_.lower_bound({op.tenant, cancel_kind, 0, {}});
  const auto end =
      cancels_.upper_bound({op.tenant, cancel_kind, std::numeric_limits<std::uint64_t>::max(), {}});
  const auto running = std::count_if(
      first, end, [](const auto& one) { return one.second.status == TaskStatus::running; });
  if (static_cast<std::size_t>(running) >= limits_.cancel_tasks_running) {
    return refused(ErrorKind::quota_reached);
  }
  const auto now = static_cast<std::uint64_t>(to_ms(time_));
  const core::Task task{
      .tenant = op.tenant,
      .number = first == end ? now : std::max(now, std::prev(end)->second.number + 1),
      .work = op.selection,
      .started_at = time_,
      .up_to = last_seq_};
  const TaskKey key = core::own_key(task);
  save(cancels_, key);
  cancels_[key] = task;
  changed_cancels_.insert(key);
  auto kept = static_cast<std::size_t>(std::distance(first, end));
  for (auto at = cancels_.lower_bound({op.tenant, cancel_kind, 0, {}});
       kept > limits_.cancel_tasks_kept && at->first != key;) {
    const auto next = std::next(at);
    if (at->second.status != TaskStatus::running) {
      changed_cancels_.insert(at->first);
      save(cancels_, at->first);
      cancels_.erase(at);
      --kept;
    }
    at = next;
  }
  return {.kind = Expected::Kind::task_started, .number = task.number};
}

bool Model::selected_by_a_task(core::Seq seq) const {
  return std::ranges::any_of(cancels_, [&](const auto& one) {
    return one.second.status == TaskStatus::running && selects(one.second, messages_.at(seq));
  });
}

/// What is pushed: which ones, and when, the core decides.
void Model::cancel_by_tasks() {
  for (const auto& [seq, state] : written_->states) {
    const auto found = messages_.find(seq);
    if (!state.cancel_requested || found == messages_.end() || found->second.cancel_requested ||
        core::is_final(found->second.status) || found->second.pulled()) {
      continue;
    }
    require(selected_by_a_task(seq), "cancels", describe(found->second) + " nobody has cancelled");
    canceled_by_tasks_.push_back(seq);
    event(found->second.content->tenant, seq, core::EventKind::cancel_requested);
    update(seq, [](ModelMessage& one) { one.cancel_requested = true; });
    changed_.insert(seq);
    if (!found->second.leased) {
      finish(seq, core::Status::canceled);
    }
  }
  require(canceled_by_tasks_.size() <= limits_.moves_per_batch, "bounded",
          std::to_string(canceled_by_tasks_.size()) + " messages cancelled by tasks in one batch");
}

/// Each of the cancelled is counted by one task, and no other is.
void Model::go_on_with_cancels() {
  std::map<core::TenantId, std::uint64_t> counted;
  for (const auto& [key, stored] : written_->tasks) {
    const auto known = cancels_.find(key);
    if (std::get<std::uint32_t>(key) != cancel_kind || known == cancels_.end()) {
      continue;  // compared below
    }
    const core::Task before = known->second;
    if (!stored) {
      forget_cancel(key, before);
      continue;
    }
    const auto could = [&](const std::vector<core::Seq>& canceled) {
      return std::ranges::count_if(
          canceled, [&](core::Seq seq) { return selects(before, messages_.at(seq)); });
    };
    const std::uint64_t more = stored->processed - before.processed;
    require(stored->processed >= before.processed &&
                more <= static_cast<std::uint64_t>(could(canceled_by_tasks_) +
                                                   could(perhaps_by_tasks_)),
            "cancels", cancel_name(before) + " counts what it has not cancelled");
    counted[before.tenant] += more;
    save(cancels_, key);
    core::Task& task = cancels_.at(key);
    task.processed += more;
    task.total = task.processed;
    if (stored->status == TaskStatus::completed && task.status == TaskStatus::running) {
      check_none_left(task);
      task.status = TaskStatus::completed;
      task.ended_at = time_;
    }
    changed_cancels_.insert(key);
  }
  for (const auto& [id, known] : tenants_) {
    const core::TenantId tenant = id;
    const auto of_tenant = [&](core::Seq seq) {
      return messages_.at(seq).content->tenant == tenant;
    };
    const auto surely =
        static_cast<std::uint64_t>(std::ranges::count_if(canceled_by_tasks_, of_tenant));
    const auto perhaps =
        static_cast<std::uint64_t>(std::ranges::count_if(perhaps_by_tasks_, of_tenant));
    require(surely <= counted[tenant] && counted[tenant] <= surely + perhaps, "cancels",
            "tasks count " + std::to_string(counted[tenant]) + " cancelled messages, there are " +
                std::to_string(surely));
  }
  for (const TaskKey& key : changed_cancels_) {
    require(written_->tasks.contains(key), "cancels", "a bulk action changed and is not stored");
  }
  for (const auto& [key, stored] : written_->tasks) {
    if (std::get<std::uint32_t>(key) == cancel_kind) {
      const auto want = cancels_.find(key);
      require(
          stored.has_value() == (want != cancels_.end()) && (!stored || *stored == want->second),
          "cancels", "a bulk action is stored differently");
    }
  }
}

void Model::forget_cancel(const TaskKey& key, const core::Task& task) {
  require(task.status != TaskStatus::running &&
              task.started_at + limits_.cancel_tasks_kept_for <= time_,
          "cancels", cancel_name(task) + " was forgotten too early");
  save(cancels_, key);
  cancels_.erase(key);
}

void Model::check_none_left(const core::Task& task) const {
  const std::uint64_t most = std::get<core::CancelMessages>(task.work).count_max;
  require(most == 0 || task.processed <= most, "cancels", cancel_name(task) + " went too far");
  if (most != 0 && task.processed == most) {
    return;
  }
  for (const auto& [seq, message] : messages_) {
    require(core::is_final(message.status) || message.cancel_requested || !selects(task, message),
            "cancels", cancel_name(task) + " is done and has left " + describe(message));
  }
}

}  // namespace hk::sim
