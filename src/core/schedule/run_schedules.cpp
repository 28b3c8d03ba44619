// Schedules that are due publish. The message and the time of the next run are one batch: a crash
// leaves both or none, so that a run makes its message once.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/machine.h"

HK_SOMETIMES_DECLARE(schedule_ran)
HK_SOMETIMES_DECLARE(schedule_ran_late)
HK_SOMETIMES_DECLARE(schedule_skipped_a_run)
HK_SOMETIMES_DECLARE(schedule_changed_before_its_run)
HK_SOMETIMES_DECLARE(schedules_left_for_the_next_batch)

namespace hk::core {

namespace {

constexpr std::size_t batches_read_ahead = 16;
constexpr std::size_t bytes_per_batch = std::size_t{8} << 20U;
constexpr std::size_t last_messages_max = 16;  // shown with their states

std::vector<MessageId> first_messages(const Reply& reply) {
  if (const auto* one = std::get_if<Published>(&*reply)) {
    return {one->id};
  }
  std::vector<MessageId> ids;
  for (const FannedOut::One& one : std::get<FannedOut>(*reply).messages) {
    if (ids.size() == last_messages_max) {
      break;
    }
    ids.push_back(one.published.id);
  }
  return ids;
}

}  // namespace

/// A few per batch, whatever the number of schedules; the next batch follows at once.
void Machine::run_schedules() {
  if (due_schedules_.empty() && next_schedule_at_ <= batch_.now()) {
    read_due_schedules();
  }
  const std::size_t limit = limits_.schedules_per_batch;
  const Seq first = last_seq_;
  std::size_t bytes = 0;
  for (std::size_t looked_at = 0;
       looked_at < limit && last_seq_.value() - first.value() < limit && bytes < bytes_per_batch;
       ++looked_at) {
    if (due_schedules_.empty()) {
      return;
    }
    const ScheduleDue due = std::move(due_schedules_.front());
    due_schedules_.pop_front();
    bytes += run_schedule(due);
  }
  if (!due_schedules_.empty()) {
    HK_SOMETIMES(schedules_left_for_the_next_batch);
  }
}

/// More than one batch runs, because reading the first ones means to pass by what earlier runs have
/// deleted before them. What waits meanwhile is looked at again when its turn comes.
void Machine::read_due_schedules() {
  const std::size_t limit = limits_.schedules_per_batch * batches_read_ahead;
  next_schedule_at_ = batch_.earliest_run();  // of what this batch has moved: not in the list yet
  for (ScheduleDue& one : batch_.reader().next_schedules(limit + 1)) {
    if (one.at > batch_.now() || due_schedules_.size() == limit) {
      next_schedule_at_ = std::min(next_schedule_at_, one.at);
      return;
    }
    due_schedules_.push_back(std::move(one));
  }
}

/// Returns the bytes of the messages that it made.
std::size_t Machine::run_schedule(const ScheduleDue& due) {
  auto state = batch_.schedule_state(due.tenant, due.id);
  if (!state || state->next_at != due.at) {
    HK_SOMETIMES(schedule_changed_before_its_run);
    return 0;  // deleted or moved since it was read
  }
  auto schedule = batch_.schedule(due.tenant, due.id);
  HK_ASSERT(schedule.has_value());
  const Moment now = batch_.now();
  std::size_t bytes = 0;

  // From now on, not from the run: what was missed while nobody could run it is made up for once.
  const Result<Moment> next_at = next_run(schedule->cron);
  if (!next_at) {
    // The zone was there when the schedule was made. The run stays due: it is made up for when the
    // zone is back, and until then looked at once an hour.
    state->error = next_at.error().message;
    state->next_at = std::chrono::floor<std::chrono::hours>(now) + std::chrono::hours{1};
  } else {
    state->next_at = *next_at;
    if (state->paused) {
      HK_SOMETIMES(schedule_skipped_a_run);
    } else {
      if (due.at < now) {
        HK_SOMETIMES(schedule_ran_late);
      }
      const Seq before = last_seq_;
      const std::size_t body_bytes = schedule->prototype.body.size();
      state->last_at = now;
      state->last_messages.clear();
      state->error.clear();
      if (Reply reply = publish_run(std::move(*schedule))) {
        HK_SOMETIMES(schedule_ran);
        state->last_messages = first_messages(reply);
      } else {
        state->error = reply.error().message;
      }
      bytes = body_bytes * (last_seq_.value() - before.value());
    }
  }
  put_schedule_state(due.tenant, due.id, std::move(*state), due.at);
  return bytes;
}

Reply Machine::publish_run(Schedule schedule) {
  Publish command{.message = std::make_unique<Message>(std::move(schedule.prototype)),
                  .flow = std::move(schedule.flow),
                  .delay = schedule.delay};
  command.message->tenant = schedule.tenant;
  command.message->schedule = std::move(schedule.id);
  // That of the request which made the schedule has ended.
  command.message->trace = fresh_trace(rng_);
  return decide(std::move(command));
}

}  // namespace hk::core
