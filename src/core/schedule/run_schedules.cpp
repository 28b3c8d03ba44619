// Schedules that are due publish. The message and the time of the next run are one batch: a crash
// leaves both or none, so that a run makes its message once.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/message/messages.h"
#include "core/schedule/schedules.h"

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

std::vector<MessageId> first_messages(const Sent& sent) {
  if (const auto* one = std::get_if<Published>(&sent)) {
    return {one->id};
  }
  std::vector<MessageId> ids;
  for (const FannedOut::One& one : std::get<FannedOut>(sent).messages) {
    if (ids.size() == last_messages_max) {
      break;
    }
    ids.push_back(one.published.id);
  }
  return ids;
}

}  // namespace

void Schedules::advance() {
  if (due_.empty() && next_at_ <= batch_.now()) {
    read_due();
  }
  const std::size_t limit = limits_.schedules_per_batch;
  const Seq first = context_.progress.last_message();
  std::size_t bytes = 0;
  for (std::size_t looked_at = 0;
       looked_at < limit && context_.progress.last_message().value() - first.value() < limit &&
       bytes < bytes_per_batch;
       ++looked_at) {
    if (due_.empty()) {
      return;
    }
    const ScheduleDue due = std::move(due_.front());
    due_.pop_front();
    bytes += run(due);
  }
  if (!due_.empty()) {
    HK_SOMETIMES(schedules_left_for_the_next_batch);
  }
}

/// More than one batch runs, because reading the first ones means to pass by what earlier runs have
/// deleted before them. What waits meanwhile is looked at again when its turn comes.
void Schedules::read_due() {
  const std::size_t limit = limits_.schedules_per_batch * batches_read_ahead;
  next_at_ = put_by_this_batch_;  // not in the list yet
  for (ScheduleDue& one : batch_.reader().scan<ScheduleDue>({}, limit + 1)) {
    if (one.at > batch_.now() || due_.size() == limit) {
      next_at_ = std::min(next_at_, one.at);
      return;
    }
    due_.push_back(std::move(one));
  }
}

/// Returns the bytes of the messages that it made.
std::size_t Schedules::run(const ScheduleDue& due) {
  auto state = batch_.get<ScheduleState>({due.tenant, due.id});
  if (!state || state->next_at != due.at) {
    HK_SOMETIMES(schedule_changed_before_its_run);
    return 0;  // deleted or moved since it was read
  }
  auto schedule = batch_.get<Schedule>({due.tenant, due.id});
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
      const Seq before = context_.progress.last_message();
      const std::size_t body_bytes = schedule->prototype.body.size();
      state->last_at = now;
      state->last_messages.clear();
      state->error.clear();
      if (const Result<Sent> sent = publish_run(std::move(*schedule))) {
        HK_SOMETIMES(schedule_ran);
        state->last_messages = first_messages(*sent);
      } else {
        state->error = sent.error().message;
      }
      bytes = body_bytes * (context_.progress.last_message().value() - before.value());
    }
  }
  put_state(due.tenant, due.id, std::move(*state), due.at);
  return bytes;
}

Result<Sent> Schedules::publish_run(Schedule schedule) {
  Publish command{.message = std::make_unique<Message>(std::move(schedule.prototype)),
                  .flow = std::move(schedule.flow),
                  .delay = schedule.delay};
  command.message->tenant = schedule.tenant;
  command.message->schedule = std::move(schedule.id);
  // That of the request which made the schedule has ended.
  command.message->trace = fresh_trace(context_.rng);
  return messages_.send(std::move(command));
}

}  // namespace hk::core
