// What schedules must mean: one message per run while they are there and not paused, and what was
// missed is made up for once.
#include <algorithm>

#include "sim/crons.h"
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

Expected Model::schedule(const Op& op) {
  const core::Message& message = *op.message;
  if (!tenants_.contains(message.tenant)) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  if (op.bad_policy || !op.cron) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::invalid_argument};
  }
  if (!message.topic.empty() && !groups_.contains({message.tenant, message.topic})) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  const Named key{message.tenant, op.name};
  save(schedules_, key);
  const auto [at, fresh] = schedules_.try_emplace(key);
  ModelSchedule& schedule = at->second;
  const Moment created_at = fresh ? time_ : schedule.content.created_at;
  const bool paused = !fresh && schedule.state.paused;
  schedule.cron = &known_crons.at(*op.cron);
  schedule.content = core::Schedule{.tenant = message.tenant,
                                    .id = op.name,
                                    .cron = std::string(schedule.cron->text),
                                    .prototype = message,
                                    .delay = op.delay,
                                    .created_at = created_at};
  schedule.content.prototype.schedule = op.name;
  schedule.content.prototype.dedup_id.clear();
  schedule.content.prototype.not_before = Moment{};
  if (op.flow) {
    schedule.content.flow = core::FlowKey{.tenant = message.tenant,
                                          .key = message.flow_key,
                                          .parallelism = op.flow->parallelism,
                                          .rate = op.flow->rate,
                                          .period = op.flow->period};
  }
  schedule.state = {.paused = paused, .next_at = next_run(*schedule.cron, time_)};
  changed_schedules_.insert(key);
  return {.kind = Expected::Kind::scheduled, .name = op.name};
}

Expected Model::delete_schedule(const Op& op) {
  const Named key{op.tenant, op.name};
  if (!schedules_.contains(key)) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  save(schedules_, key);
  schedules_.erase(key);
  changed_schedules_.insert(key);
  return {.kind = Expected::Kind::done};
}

Expected Model::pause_schedule(const Op& op) {
  const Named key{op.tenant, op.name};
  const auto found = schedules_.find(key);
  if (found == schedules_.end()) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  const bool paused = op.paused.value_or(false);
  if (found->second.state.paused == paused) {
    return {.kind = Expected::Kind::done};
  }
  save(schedules_, key);
  core::ScheduleState& state = found->second.state;
  state.paused = paused;
  if (!paused && state.next_at <= time_) {
    state.next_at = next_run(*found->second.cron, time_);  // it came due while it was paused
  }
  changed_schedules_.insert(key);
  return {.kind = Expected::Kind::done};
}

/// How many run in one batch is the core's choice; that they run in order, once, and with their
/// message is not.
void Model::run_schedules() {
  std::vector<core::ScheduleDue> due;
  for (const auto& [key, schedule] : schedules_) {
    if (schedule.state.next_at <= time_) {
      due.push_back({schedule.state.next_at, key.first, key.second});
    }
  }
  std::ranges::sort(due);
  bool one_waits = false;
  for (const core::ScheduleDue& one : due) {
    const Named key{one.tenant, one.id};
    const auto written = written_->schedule_states.find(key);
    if (written == written_->schedule_states.end() || !written->second ||
        written->second->next_at <= time_) {
      one_waits = true;
      continue;
    }
    require(!one_waits, "schedules", "schedule " + one.id + " overtook one that was due before it");
    run_schedule(key);
  }
}

void Model::run_schedule(const Named& key) {
  save(schedules_, key);
  ModelSchedule& schedule = schedules_.at(key);
  schedule.state.next_at = next_run(*schedule.cron, time_);
  changed_schedules_.insert(key);
  if (schedule.state.paused) {
    return;
  }
  const core::Message& prototype = schedule.content.prototype;
  std::vector<core::Endpoint> targets = {{.url = prototype.url, .host = prototype.host}};
  schedule.state.last_at = time_;
  schedule.state.last_messages.clear();
  schedule.state.error.clear();
  if (!prototype.topic.empty()) {
    const auto group = groups_.find({prototype.tenant, prototype.topic});
    if (group == groups_.end()) {
      schedule.state.error = "topic " + prototype.topic + " not found";
      return;
    }
    targets = group->second;
  }
  core::Trace trace;  // a fresh one, of the run
  for (const core::Endpoint& target : targets) {
    require(next_message_ < written_->messages.size(), "schedules",
            "a run of schedule " + key.second + " made no message");
    if (schedule.state.last_messages.empty()) {
      trace = written_->messages[next_message_]->trace;
    }
    core::Message want = prototype;
    want.url = target.url;
    want.host = target.host;
    want.endpoint = target.name;
    want.trace = trace;
    want.not_before = time_ + schedule.content.delay;
    use_flow(want, schedule.content.flow);
    schedule.state.last_messages.push_back(accept(std::move(want)));
  }
}

void Model::compare_schedules() const {
  for (const Named& key : changed_schedules_) {
    const auto got = written_->schedule_states.find(key);
    require(got != written_->schedule_states.end() &&
                got->second.has_value() == schedules_.contains(key),
            "schedules", "schedule " + key.second + " changed, not its record");
  }
  for (const auto& [key, state] : written_->schedule_states) {
    const auto want = schedules_.find(key);
    require(
        state ? want != schedules_.end() && want->second.state == *state : want == schedules_.end(),
        "schedules", "schedule " + key.second + " is stored in another state than it is in");
  }
  for (const auto& [key, content] : written_->schedules) {
    const auto want = schedules_.find(key);
    require(content ? want != schedules_.end() && want->second.content == *content
                    : want == schedules_.end(),
            "schedules", "schedule " + key.second + " is not what was asked for");
  }
}

void Model::check_no_run_missed(Moment time) const {
  for (const auto& [key, schedule] : schedules_) {
    require(schedule.state.next_at > time, "schedules",
            "schedule " + key.second + " is due and nobody runs it");
  }
}

}  // namespace hk::sim
