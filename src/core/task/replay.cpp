// Deliveries of webhooks are made again, and payloads expunged: a cursor over the events of an
// application, a few per batch. The task is written with each step, in the batch that makes the
// deliveries, so that a restart neither repeats nor forgets one.
#include <algorithm>

#include "base/json.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/lane/lanes.h"
#include "core/pull/room.h"
#include "core/task/tasks.h"
#include "core/tenant/tenants.h"
#include "core/webhook/operational.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(replay_completed)
HK_SOMETIMES_DECLARE(replay_of_nothing)
HK_SOMETIMES_DECLARE(replay_waits_for_its_rate)
HK_SOMETIMES_DECLARE(replay_waits_for_what_it_made)
HK_SOMETIMES_DECLARE(replay_skips_what_is_queued_or_gone)
HK_SOMETIMES_DECLARE(replay_goes_on_within_an_event)
HK_SOMETIMES_DECLARE(replay_canceled)
HK_SOMETIMES_DECLARE(replay_paused)
HK_SOMETIMES_DECLARE(replay_loses_its_application)
HK_SOMETIMES_DECLARE(expunge_task_completed)

namespace hk::core {

namespace {

using webhook::ReplayEvents;

constexpr std::uint64_t one_delivery = 1'000'000;  // of credit: milliseconds times a 1000 s rate
constexpr std::uint64_t burst_millis = 100;
constexpr std::size_t events_per_read = 16;  // each with its payload
constexpr std::size_t filter_values_max = 10'000;

std::size_t values_of(const webhook::ReplayFilter& filter) {
  return filter.event_types.size() + filter.channels.size() + filter.tags.size() +
         filter.status_classes.size() + filter.event_refs.size();
}

void look_at_event(MoveRoom& room, const webhook::Event& event) {
  room.messages -= std::min<std::size_t>(room.messages, 1);
  room.bytes -= std::min(room.bytes, event.payload.size());
}

const char* status_text(Task::Status status) {
  switch (status) {
    case Task::Status::running:
    case Task::Status::paused: return "running";
    case Task::Status::completed: return "finished";
    case Task::Status::canceled:
    case Task::Status::failed: break;
  }
  return "failed";
}

}  // namespace

// ---- commands ----

Reply Tasks::decide(StartReplay command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto known = command.application_ref.empty()
                         ? nullptr
                         : webhooks_.known(command.tenant, command.application_ref);
  if (known == nullptr) {
    return webhook::Refused{webhook::Refused::Why::application_not_found};
  }
  ReplayEvents what = std::move(command.what);
  what.application = known->application.number;
  what.endpoints.clear();
  for (const std::string& ref : command.endpoint_refs) {
    const auto endpoint = known->endpoint(ref);
    if (endpoint == nullptr) {
      return webhook::Refused{webhook::Refused::Why::endpoint_not_found, ref};
    }
    what.endpoints.push_back(endpoint->number);
  }
  std::ranges::sort(what.endpoints);
  if (!command.redirect_ref.empty()) {
    const auto endpoint = known->endpoint(command.redirect_ref);
    if (endpoint == nullptr) {
      return webhook::Refused{webhook::Refused::Why::endpoint_not_found, command.redirect_ref};
    }
    what.redirect_to = endpoint->number;
  }
  if (what.since >= what.until) {
    return fail(ErrorKind::invalid_argument, "`since` must be before `until`");
  }
  if (values_of(what.filter) > filter_values_max) {
    return fail(ErrorKind::invalid_argument,
                "the filter has more than " + std::to_string(filter_values_max) + " values");
  }
  if (auto room = room_for(command.tenant, Task::Kind::webhook_replay); !room) {
    return std::unexpected(room.error());
  }
  if (what.purpose == ReplayEvents::Purpose::missing) {
    what.missing_only = true;
  }
  Task task{.tenant = command.tenant,
            .number = context_.progress.next_number(),
            .work = std::move(what),
            .rate = command.rate,
            .started_at = batch_.now(),
            .up_to = context_.progress.last_message()};
  begin(task, ReplayRun{.credit = one_delivery, .credited_at = batch_.now()});
  return TaskStored{std::move(task)};
}

Reply Tasks::decide(const ChangeReplay& command) {
  using Change = ChangeReplay::Change;
  const Key key{command.tenant, static_cast<std::uint32_t>(Task::Kind::webhook_replay),
                command.number, std::string()};
  const auto found = runs_.find(key);
  if (found == runs_.end()) {
    auto stored = batch_.get<Task>(key);
    if (!stored) {
      return fail(ErrorKind::not_found, "no such replay");
    }
    return TaskStored{*std::move(stored)};
  }
  Run& run = found->second;
  dirty_.insert(key);
  switch (command.change) {
    case Change::pause:
      HK_SOMETIMES(replay_paused);
      run.task.status = Task::Status::paused;
      break;
    case Change::resume: {
      run.task.status = Task::Status::running;
      auto& at = std::get<ReplayRun>(run.place);
      at.credited_at = batch_.now();  // for the pause there is no credit
      break;
    }
    case Change::rate: run.task.rate = command.rate; break;
    case Change::cancel: {
      HK_SOMETIMES(replay_canceled);
      cancel_queued(run.task);
      Task task = end(run, Task::Status::canceled, "");
      return TaskStored{std::move(task)};
    }
  }
  return TaskStored{run.task};
}

/// What it has queued and not begun is cancelled.
void Tasks::cancel_queued(Task& task) {
  auto& what = std::get<ReplayEvents>(task.work);
  what.canceled = task.processed - what.succeeded - what.failed;
  if (what.canceled == 0) {
    return;
  }
  if (what.redirect_to != 0) {
    webhooks_.cancel_replayed(task.tenant, what.application, what.redirect_to, task.number);
    return;
  }
  const auto known = webhooks_.known(task.tenant, what.application);
  if (known == nullptr) {
    return;  // all of it is being cancelled
  }
  for (const auto& endpoint : known->endpoints) {
    if (what.endpoints.empty() || std::ranges::binary_search(what.endpoints, endpoint->number)) {
      webhooks_.cancel_replayed(task.tenant, what.application, endpoint->number, task.number);
    }
  }
}

Reply Tasks::decide(const StartExpunge& command) {
  const auto known = command.application_ref.empty()
                         ? nullptr
                         : webhooks_.known(command.tenant, command.application_ref);
  if (known == nullptr) {
    return webhook::Refused{webhook::Refused::Why::application_not_found};
  }
  if (auto room = room_for(command.tenant, Task::Kind::webhook_expunge); !room) {
    return std::unexpected(room.error());
  }
  const std::uint64_t number = context_.progress.next_number();
  Task task{
      .tenant = command.tenant,
      .number = number,
      .work = webhook::ExpungeContents{.application = known->application.number, .up_to = number},
      .started_at = batch_.now(),
      .up_to = context_.progress.last_message()};
  begin(task, ExpungeRun{});
  return TaskStored{std::move(task)};
}

Result<void> Tasks::room_for(TenantId tenant, Task::Kind kind) const {
  const Group group{tenant, kind, {}};
  const auto running =
      std::ranges::count_if(runs_, [&](const auto& one) { return group_of(one.first) == group; });
  if (static_cast<std::size_t>(running) >= limits_.cancel_tasks_running) {
    return fail(ErrorKind::quota_reached,
                std::to_string(running) + " such tasks are in progress: wait for one to finish");
  }
  return {};
}

// ---- replays ----

void Tasks::work(Run& run, ReplayRun& at, std::size_t& budget, MoveRoom& room) {
  Task& task = run.task;
  ReplayEvents& what = std::get<ReplayEvents>(task.work);
  if (task.status == Task::Status::paused || what.phase == ReplayEvents::Phase::settling) {
    return;  // of what it made each tells of its end
  }
  const auto known = webhooks_.known(task.tenant, what.application);
  if (known == nullptr) {
    HK_SOMETIMES(replay_loses_its_application);
    end(run, Task::Status::failed, Task::application_gone);
    return;
  }
  dirty_.insert(own_key(task));
  if (what.phase == ReplayEvents::Phase::counting) {
    count(task, *known, budget, room);
    return;
  }
  std::size_t most = budget;
  if (task.rate != 0) {
    const auto passed = static_cast<std::uint64_t>((batch_.now() - at.credited_at).count());
    at.credit =
        std::min(at.credit + passed * task.rate, std::max(one_delivery, task.rate * burst_millis));
    at.credited_at = batch_.now();
    most = std::min<std::size_t>(most, at.credit / one_delivery);
    if (most == 0) {
      HK_SOMETIMES(replay_waits_for_its_rate);
      return;
    }
  }
  const std::uint64_t before = task.processed;
  const bool done = make_again(task, *known, most, room);
  const std::uint64_t made = task.processed - before;
  budget -= std::min<std::size_t>(budget, std::max<std::uint64_t>(made, 1));
  if (task.rate != 0) {
    at.credit -= std::min(at.credit, made * one_delivery);
  }
  if (!done) {
    return;
  }
  // What it counted and did not meet again has changed meanwhile.
  what.skipped = task.total - task.processed;
  what.phase = ReplayEvents::Phase::settling;
  HK_SOMETIMES(replay_waits_for_what_it_made);
  end_if_settled(run);
}

void Tasks::count(Task& task, const webhook::Webhooks::Known& known, std::size_t& budget,
                  MoveRoom& room) {
  ReplayEvents& what = std::get<ReplayEvents>(task.work);
  while (budget > 0 && !room.is_used_up()) {
    const auto events = webhook::events_to_replay(batch_.reader(), task.tenant, what, task.number,
                                                  std::min(budget, events_per_read));
    for (const webhook::Event& event : events) {
      look_at_event(room, event);
      for (const auto& endpoint : known.endpoints) {
        if (webhook::is_replayed(batch_.reader(), what, event, *endpoint, task.number, task.up_to,
                                 task.started_at)) {
          ++task.total;
        }
      }
      what.after = event.number;
      --budget;
    }
    if (events.empty()) {
      what.after = 0;
      what.phase = ReplayEvents::Phase::making;
      return;
    }
  }
}

/// At most so many deliveries. True: that was all.
bool Tasks::make_again(Task& task, const webhook::Webhooks::Known& known, std::size_t most,
                       MoveRoom& room) {
  ReplayEvents& what = std::get<ReplayEvents>(task.work);
  const auto redirect = what.redirect_to == 0 ? nullptr : known.endpoint(what.redirect_to);
  std::size_t looks = limits_.moves_per_batch;
  while (!room.is_used_up()) {
    const auto events = webhook::events_to_replay(batch_.reader(), task.tenant, what, task.number,
                                                  std::min(looks, events_per_read));
    if (events.empty()) {
      return looks > 0;
    }
    for (const webhook::Event& event : events) {
      look_at_event(room, event);
      --looks;
      for (const auto& endpoint : known.endpoints) {
        if (event.number == what.after && endpoint->number <= what.after_endpoint) {
          HK_SOMETIMES(replay_goes_on_within_an_event);
          continue;
        }
        if (task.processed + what.skipped >= task.total) {
          return true;  // what matches by now and did not then is left alone
        }
        if (!webhook::is_replayed(batch_.reader(), what, event, *endpoint, task.number, task.up_to,
                                  task.started_at)) {
          continue;
        }
        if (most == 0) {
          return false;
        }
        const bool is_lost = what.redirect_to != 0 && redirect == nullptr;
        const auto made =
            is_lost ? std::nullopt
                    : webhooks_.deliver_again(event, redirect != nullptr ? *redirect : *endpoint,
                                              task.number, what.retry);
        if (made) {
          ++task.processed;
          what.bytes += event.payload.size();
          --most;
        } else {
          HK_SOMETIMES(replay_skips_what_is_queued_or_gone);
          ++what.skipped;
        }
        what.after = event.number;
        what.after_endpoint = endpoint->number;
      }
      what.after = event.number;
      what.after_endpoint = 0;
      if (looks == 0 || room.is_used_up()) {
        return false;
      }
    }
  }
  return false;
}

void Tasks::replayed(TenantId tenant, std::uint64_t number, Status status) {
  const auto found = runs_.find(
      {tenant, static_cast<std::uint32_t>(Task::Kind::webhook_replay), number, std::string()});
  if (found == runs_.end()) {
    return;  // it was cancelled, and has counted it so
  }
  Run& run = found->second;
  ReplayEvents& what = std::get<ReplayEvents>(run.task.work);
  ++(status == Status::succeeded ? what.succeeded
     : status == Status::failed  ? what.failed
                                 : what.canceled);
  dirty_.insert(found->first);
  settled_.insert(found->first);
}

void Tasks::end_if_settled(Run& run) {
  const ReplayEvents& what = std::get<ReplayEvents>(run.task.work);
  if (what.phase != ReplayEvents::Phase::settling ||
      what.succeeded + what.failed + what.canceled < run.task.processed) {
    return;
  }
  if (run.task.total == 0) {
    HK_SOMETIMES(replay_of_nothing);
  }
  HK_SOMETIMES(replay_completed);
  end(run, Task::Status::completed, "");
}

void Tasks::end_settled() {
  for (const Key& key : std::exchange(settled_, {})) {
    if (const auto run = runs_.find(key); run != runs_.end()) {
      end_if_settled(run->second);
    }
  }
}

Moment Tasks::next_replay(const Task& task, const ReplayRun& at) const {
  const ReplayEvents& what = std::get<ReplayEvents>(task.work);
  if (task.status == Task::Status::paused || what.phase == ReplayEvents::Phase::settling) {
    return never;
  }
  if (what.phase == ReplayEvents::Phase::making && task.rate != 0 && at.credit < one_delivery) {
    const std::uint64_t wait = (one_delivery - at.credit + task.rate - 1) / task.rate;
    return at.credited_at + Millis{static_cast<std::int64_t>(wait)};
  }
  return context_.progress.time();
}

// ---- expunging ----

void Tasks::work(Run& run, ExpungeRun& /*at*/, std::size_t& budget, MoveRoom& room) {
  Task& task = run.task;
  auto& what = std::get<webhook::ExpungeContents>(task.work);
  dirty_.insert(own_key(task));
  std::size_t left = limits_.moves_per_batch;
  while (budget > 0 && left > 0 && !room.is_used_up()) {
    auto events = batch_.reader().scan(Range<webhook::Event>::of(task.tenant, what.application)
                                           .after(task.tenant, what.application, what.after)
                                           .before(task.tenant, what.application, what.up_to),
                                       std::min(budget, events_per_read));
    if (events.empty()) {
      HK_SOMETIMES(expunge_task_completed);
      end(run, Task::Status::completed, "");
      return;
    }
    for (webhook::Event& event : events) {
      look_at_event(room, event);
      --budget;
      what.after = event.number;
      // Not as it was read: this batch may have changed it.
      if (auto now = batch_.get<webhook::Event>(own_key(event))) {
        if (webhooks_.expunge(std::move(*now), left)) {
          ++task.processed;
        }
        ++task.total;
      }
    }
  }
}

void Tasks::tell_of_end(const Task& task) {
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  json.field("taskId", sortable_id("qtask_", task.started_at, task.number,
                                   static_cast<std::uint64_t>(task.kind())));
  const auto* const replay = std::get_if<ReplayEvents>(&task.work);
  const char* name = "application.purge_content";
  if (replay != nullptr) {
    name = replay->purpose == ReplayEvents::Purpose::recover   ? "endpoint.recover"
           : replay->purpose == ReplayEvents::Purpose::missing ? "endpoint.replay"
                                                               : "endpoint.bulk-replay";
  }
  json.field("task", name);
  json.field("status", status_text(task.status));
  json.key("data");
  json.begin_object();
  json.field(replay == nullptr ? "messagesPurged" : "messagesSent", task.processed);
  if (replay != nullptr) {
    json.field("matched", task.total);
    json.field("skipped", replay->skipped);
  }
  json.end_object();
  json.end_object();
  webhooks_.tell(task.tenant, webhook::operational_event::task_finished, data);
}

}  // namespace hk::core
