// Commands about schedules. Nothing of a schedule is kept in memory: the store has it, and the
// batch what was decided about it since.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/callback.h"
#include "core/schedule/cron.h"
#include "core/schedule/order.h"
#include "core/schedule/schedules.h"
#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(schedule_replaced)
HK_SOMETIMES_DECLARE(schedule_resumed_after_its_run)

namespace hk::core {

namespace {

Error no_schedule(const std::string& id) {
  return {ErrorKind::not_found, "schedule " + id + " not found"};
}

std::string random_id(Rng& rng) {
  constexpr std::string_view alphabet = "0123456789abcdefghijklmnopqrstuv";
  std::string id = "scd_";
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = rng.next();
    for (int digit = 0; digit < 12; ++digit) {
      id += alphabet[bits % alphabet.size()];
      bits /= alphabet.size();
    }
  }
  return id;
}

}  // namespace

void Schedules::recover(Reader& reader) {
  for (const ScheduleDue& first : reader.scan<ScheduleDue>({}, 1)) {
    next_at_ = first.at;
  }
}

Reply Schedules::execute(ScheduleCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Moment Schedules::wake_at() const { return due_.empty() ? next_at_ : context_.progress.time(); }

/// invalid_argument: the text is not understood, or its zone is not there.
Result<Moment> Schedules::next_run(const std::string& cron) {
  const Result<ParsedCron> parsed = parse_cron(cron);
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  const Zone* const zone = zones_.find(parsed->zone);
  if (zone == nullptr) {
    return fail(ErrorKind::invalid_argument,
                "there is no time zone \"" + parsed->zone +
                    "\"; write an IANA name like UTC, Europe/Berlin or America/New_York");
  }
  return next_after(parsed->cron, batch_.now(), *zone).value_or(never);
}

void Schedules::put_state(TenantId tenant, const std::string& id, ScheduleState state,
                          Moment previous_next_at) {
  next_at_ = std::min(next_at_, state.next_at);
  put_by_this_batch_ = std::min(put_by_this_batch_, state.next_at);
  put_schedule_state(batch_, tenant, id, std::move(state), previous_next_at);
}

Reply Schedules::decide(UpsertSchedule command) {
  Schedule& schedule = command.schedule;
  Message& prototype = schedule.prototype;
  if (!tenants_.contains(schedule.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const Result<ParsedCron> parsed = parse_cron(schedule.cron);
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  schedule.cron = parsed->text;
  const Result<Moment> next_at = next_run(schedule.cron);
  if (!next_at) {
    return std::unexpected(next_at.error());
  }
  // What every run would fail of is refused now, while somebody listens.
  if (auto understood = check_retries(prototype); !understood) {
    return std::unexpected(understood.error());
  }
  if (prototype.url.empty() && !prototype.topic.empty() &&
      !topics_.contains(schedule.tenant, prototype.topic)) {
    return fail(ErrorKind::not_found, "topic " + prototype.topic + " not found");
  }

  if (schedule.id.empty()) {
    schedule.id = random_id(context_.rng);
  }
  schedule.created_at = batch_.now();
  ScheduleState state{.next_at = *next_at};
  Moment previous_next_at = never;
  if (const auto known = batch_.get<ScheduleState>({schedule.tenant, schedule.id})) {
    HK_SOMETIMES(schedule_replaced);
    const auto replaced = batch_.get<Schedule>({schedule.tenant, schedule.id});
    HK_ASSERT(replaced.has_value());
    schedule.created_at = replaced->created_at;
    state.paused = known->paused;
    previous_next_at = known->next_at;
  }
  // Its messages are told apart by their runs, not by an id that every one of them would have.
  prototype.tenant = schedule.tenant;
  prototype.schedule = schedule.id;
  prototype.dedup_id.clear();
  prototype.not_before = Moment{};
  put_state(schedule.tenant, schedule.id, std::move(state), previous_next_at);
  std::string id = schedule.id;
  batch_.put(Put<Schedule>(std::move(schedule)));
  return ScheduleStored{std::move(id)};
}

/// Messages that it has made are still delivered.
Reply Schedules::decide(const DeleteScheduleCommand& command) {
  const auto known = batch_.get<ScheduleState>({command.tenant, command.id});
  if (!known) {
    return std::unexpected(no_schedule(command.id));
  }
  erase_schedule(batch_, command.tenant, command.id, known->next_at);
  return Done{};
}

Reply Schedules::decide(const SetSchedulePaused& command) {
  auto state = batch_.get<ScheduleState>({command.tenant, command.id});
  if (!state) {
    return std::unexpected(no_schedule(command.id));
  }
  if (state->paused == command.paused) {
    return Done{};
  }
  const Moment previous_next_at = state->next_at;
  // A run that came due while it was paused is skipped, also if nobody has looked at it yet.
  if (!command.paused && state->next_at <= batch_.now()) {
    HK_SOMETIMES(schedule_resumed_after_its_run);
    const auto schedule = batch_.get<Schedule>({command.tenant, command.id});
    HK_ASSERT(schedule.has_value());
    const Result<Moment> next_at = next_run(schedule->cron);
    if (!next_at) {
      return std::unexpected(next_at.error());
    }
    state->next_at = *next_at;
  }
  state->paused = command.paused;
  put_state(command.tenant, command.id, std::move(*state), previous_next_at);
  return Done{};
}

}  // namespace hk::core
