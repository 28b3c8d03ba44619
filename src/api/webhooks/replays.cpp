// /api/v1/webhooks/replays: deliveries that are made again, at a speed.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"
#include "api/svix/tasks.h"
#include "api/webhooks/handlers.h"
#include "api/webhooks/plan.h"
#include "api/webhooks/reading.h"
#include "base/date.h"
#include "base/sortable_id.h"

namespace hk::api::webhooks {

namespace {

using core::Task;
using svix::Input;
using webhook::ReplayEvents;

constexpr std::array<std::string_view, 5> shown_names = {"success", "pending", "fail", "sending",
                                                         "canceled"};
constexpr double rate_least = 0.1;
constexpr double rate_most = 10'000;
constexpr std::size_t listed_max = 1000;

std::uint32_t rate_of(double given) {
  return static_cast<std::uint32_t>(std::llround(given * 1000));
}

std::vector<std::string> list_of(Input& in, std::string_view name, svix::Rule rule) {
  return in.texts(name, {.item = rule, .most = listed_max}).value_or(std::vector<std::string>{});
}

void read_statuses(Input& in, webhook::ReplayFilter& filter) {
  const auto names = in.texts("status", {});
  for (std::size_t i = 0; names && i < names->size(); ++i) {
    const auto found = std::ranges::find(shown_names, std::string_view((*names)[i]));
    if (found == shown_names.end()) {
      in.refuse_item("status", svix::item_step(i),
                     "must be one of success, pending, fail, sending, canceled");
      continue;
    }
    filter.statuses |= 1U << static_cast<unsigned>(found - shown_names.begin());
  }
  const auto classes = in.numbers("statusCodeClass", 6);
  for (std::size_t i = 0; classes && i < classes->size(); ++i) {
    const double one = (*classes)[i];
    if (one < 0 || one > 500 || std::fmod(one, 100) != 0) {
      in.refuse_item("statusCodeClass", svix::item_step(i),
                     "must be one of 0, 100, 200, 300, 400, 500");
      continue;
    }
    filter.status_classes.push_back(static_cast<std::uint32_t>(one));
  }
}

struct ReplayIn {
  core::StartReplay command{};
  bool dry_run = false;
};

void read_when(Input& in, ReplayEvents& what, Moment now) {
  if (!in.raw("since")) {
    in.refuse("since", "must be given");
  }
  const auto since = in.time("since");
  what.since = since.value_or(Moment{});
  what.until = in.time("until").value_or(now + Millis{1});
  if (since && what.since >= what.until) {
    in.refuse("until", "must be after since");
  }
}

ReplayIn read_replay(Input& in, core::TenantId tenant, Moment now) {
  ReplayIn read;
  core::StartReplay& command = read.command;
  command.tenant = tenant;
  if (in.errors().any()) {
    return read;
  }
  if (!in.raw("app")) {
    in.refuse("app", "must be given");
  }
  command.application_ref = in.text("app").value_or("");
  command.endpoint_refs = list_of(in, "endpoints", nullptr);
  ReplayEvents& what = command.what;
  read_when(in, what, now);
  if (auto filter = in.object("filter")) {
    what.filter.event_types = list_of(*filter, "eventTypes", svix::check_name);
    what.filter.channels = list_of(*filter, "channels", svix::check_channel);
    what.filter.tags = list_of(*filter, "tags", svix::check_tag);
    read_statuses(*filter, what.filter);
    what.filter.event_refs = list_of(*filter, "eventIds", nullptr);
  }
  what.missing_only = in.boolean("missingOnly").value_or(false);
  const auto rate = in.number("rate", rate_least, rate_most);
  command.rate = rate ? rate_of(*rate) : svix::replay_rate_default;
  const std::string order = in.text("order").value_or("oldest");
  if (order != "oldest" && order != "newest") {
    in.refuse("order", "must be oldest or newest");
  }
  what.newest_first = order == "newest";
  what.retry = in.boolean("retry").value_or(true);
  read.dry_run = in.boolean("dryRun").value_or(false);
  command.redirect_ref = in.text("redirectTo").value_or("");
  return read;
}

std::string_view status_of(Task::Status status) {
  switch (status) {
    case Task::Status::running: return "running";
    case Task::Status::paused: return "paused";
    case Task::Status::completed: return "finished";
    case Task::Status::canceled: return "canceled";
    case Task::Status::failed: return "failed";
  }
  std::unreachable();
}

void write_rate(JsonWriter& json, std::uint32_t rate) {
  json.key("rate");
  if (rate == 0) {
    json.null();
    return;
  }
  char text[32];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, static_cast<double>(rate) / 1000);
  json.whole(error == std::errc{} ? std::string_view(text, end) : "0");
}

void write_replay(JsonWriter& json, const Task& task, Moment now) {
  const auto& what = std::get<ReplayEvents>(task.work);
  json.begin_object();
  json.field("id", svix::task_id(task, svix::replay_prefix));
  json.field("status", status_of(task.status));
  json.field("matched", task.total);
  json.field("queued", task.processed);
  json.field("succeeded", what.succeeded);
  json.field("failed", what.failed);
  json.field("canceled", what.canceled);
  json.field("skipped", what.skipped);
  write_rate(json, task.rate);
  json.field("since", rfc3339(what.since));
  json.field("until", rfc3339(what.until));
  json.field("createdAt", rfc3339(task.started_at));
  json.field("updatedAt", rfc3339(svix::task_updated_at(task, now)));
  const bool over = task.ended_at != Moment{};
  svix::time_or_null(json, "finishedAt", over ? std::optional(task.ended_at) : std::nullopt);
  const std::uint64_t done = task.processed + what.skipped;
  const std::uint64_t left = task.total - std::min(task.total, done);
  const bool known = task.status == Task::Status::running && task.rate > 0 &&
                     what.phase != ReplayEvents::Phase::counting;
  svix::time_or_null(
      json, "eta",
      known ? std::optional(now + Millis{static_cast<std::int64_t>(left * 1'000'000 / task.rate)})
            : std::nullopt);
  json.field("position", done);
  svix::text_or_null(json, "reason", task.reason);
  json.end_object();
}

http::Response replay_response(int status, const Task& task, Moment now) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_replay(json, task, now);
  return response;
}

/// The token of an application sees its own.
bool is_callers(const Call& call, const Task& task) {
  const auto* const what = std::get_if<ReplayEvents>(&task.work);
  return what != nullptr && (!call.app || call.app->application == what->application);
}

std::optional<Task> find_replay(const Services& services, const Call& call) {
  const core::TenantId tenant = call.tenant->id;
  auto task = svix::find_task(*services.submitter.durable_view(tenant), tenant, call.param,
                              svix::replay_prefix);
  return task && is_callers(call, *task) ? std::move(task) : std::nullopt;
}

Write change_replay(const Services& services, Call& call, core::ChangeReplay::Change change,
                    std::uint32_t rate = 0) {
  const auto task = find_replay(services, call);
  if (!task) {
    return not_found("replay");
  }
  core::ChangeReplay command{
      .tenant = call.tenant->id, .number = task->number, .change = change, .rate = rate};
  return plan(std::move(command), [now = services.now()](const core::Reply& reply) {
    return replay_response(200, answer_of<core::TaskStored>(reply).task, now);
  });
}

/// What a dry run finds, within what one call may look at.
struct Matched {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::optional<Moment> oldest{};
  std::optional<Moment> newest{};

  void add(const webhook::Event& event) {
    ++count;
    bytes += event.payload.size();
    oldest = oldest ? std::min(*oldest, event.made.at) : event.made.at;
    newest = newest ? std::max(*newest, event.made.at) : event.made.at;
  }
};

/// Those that the replay would make again at one event.
void match_event(const svix::Reading& reading, const ReplayEvents& what,
                 const std::vector<webhook::Endpoint>& endpoints, const webhook::Event& event,
                 Matched& matched) {
  if (svix::is_payload_gone(event, reading.now) || !webhook::selects(what.filter, event)) {
    return;
  }
  for (const webhook::Endpoint& endpoint : endpoints) {
    const auto rows = webhook::deliveries_of(reading.reader(), reading.tenant, endpoint.number,
                                             event.number, listed_max);
    if (what.missing_only) {
      if (rows.empty() && webhook::matches(endpoint, event.event_type, event.channels)) {
        matched.add(event);
      }
      continue;
    }
    const auto delivery =
        rows.empty() ? std::nullopt : webhook::state_of(reading.reader(), rows.back());
    if (delivery && webhook::selects(what.filter, delivery->state, reading.now)) {
      matched.add(event);
    }
  }
}

/// The endpoints that it is about. nullopt: one of them is not there.
std::optional<std::vector<webhook::Endpoint>> endpoints_of(const svix::Reading& reading,
                                                           const core::StartReplay& command) {
  if (command.endpoint_refs.empty()) {
    return webhook::list_endpoints(reading.reader(), reading.tenant, reading.number, {},
                                   core::Order::ascending, core::all_rows);
  }
  std::vector<webhook::Endpoint> all;
  for (const std::string& ref : command.endpoint_refs) {
    auto endpoint = reading.endpoint(ref);
    if (!endpoint) {
      return std::nullopt;
    }
    all.push_back(std::move(*endpoint));
  }
  return all;
}

Write dry_run(const Services& services, Call& call, const core::StartReplay& command) {
  call.param = command.application_ref;
  const svix::Reading reading(services, call);
  if (!reading.application) {
    return not_found("application");
  }
  const auto endpoints = endpoints_of(reading, command);
  if (!endpoints) {
    return not_found("endpoint");
  }
  constexpr std::size_t at_once = 64;
  constexpr std::size_t looked_at_max = 100'000;
  Matched matched;
  std::optional<webhook::Number> after;
  bool complete = false;
  for (std::size_t looked_at = 0; looked_at < looked_at_max && !complete; looked_at += at_once) {
    const webhook::Window window{.after = command.what.since - Millis{1},
                                 .before = command.what.until};
    const auto events = webhook::list_events(reading.reader(), reading.tenant, reading.number,
                                             window, after, core::Order::ascending, at_once);
    for (const webhook::Event& event : events) {
      match_event(reading, command.what, *endpoints, event, matched);
      after = event.number;
    }
    complete = events.size() < at_once;
  }
  return svix::object_response(200, [&](JsonWriter& json) {
    json.field("matched", matched.count);
    json.field("bytes", matched.bytes);
    svix::time_or_null(json, "oldest", matched.oldest);
    svix::time_or_null(json, "newest", matched.newest);
    json.field("complete", complete);  // false: it looked at the first 100 000 messages
  });
}

}  // namespace

Write create_replay(const Services& services, Call& call) {
  svix::FieldErrors errors;
  Input in(call.request.body, errors);
  const Moment now = services.now();
  ReplayIn read = read_replay(in, call.tenant->id, now);
  if (errors.any()) {
    return wrong_fields(errors, call.answer.request_id());
  }
  if (call.app) {
    call.param = read.command.application_ref;
    const svix::Reading reading(services, call);
    if (!reading.application || reading.number != call.app->application) {
      return not_found("application");
    }
    read.command.application_ref = webhook::id_of(*reading.application);
  }
  if (read.dry_run) {
    return dry_run(services, call, read.command);
  }
  return plan(std::move(read.command), [now](const core::Reply& reply) {
    return replay_response(202, answer_of<core::TaskStored>(reply).task, now);
  });
}

void list_replays(const Services& services, Call& call) {
  svix::FieldErrors errors;
  svix::Query query(call.request.query(), errors);
  constexpr std::int64_t limit_max = 250;
  const auto limit = static_cast<std::size_t>(query.integer("limit", 1, limit_max).value_or(50));
  const std::string cursor = query.text("cursor").value_or("");
  if (!cursor.empty() && !number_in_id(cursor, svix::replay_prefix)) {
    query.refuse("cursor", "must be the cursor of an answer to the same list");
  }
  if (errors.any()) {
    call.answer(wrong_fields(errors, call.answer.request_id()));
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  auto all = svix::list_tasks(*services.submitter.durable_view(tenant), tenant);
  std::erase_if(all, [&](const Task& one) {
    return !is_callers(call, one) ||
           (!cursor.empty() && svix::task_id(one, svix::replay_prefix) >= cursor);
  });
  call.answer(svix::object_response(200, [&](JsonWriter& json) {
    json.key("replays");
    json.begin_array();
    for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) {
      write_replay(json, all[i], services.now());
    }
    json.end_array();
    if (all.size() > limit) {
      json.field("cursor", svix::task_id(all[limit - 1], svix::replay_prefix));
    }
  }));
}

void get_replay(const Services& services, Call& call) {
  const auto task = find_replay(services, call);
  if (!task) {
    call.answer.refuse(404, "there is no such replay");
    return;
  }
  call.answer(replay_response(200, *task, services.now()));
}

Write pause_replay(const Services& services, Call& call) {
  return change_replay(services, call, core::ChangeReplay::Change::pause);
}

Write resume_replay(const Services& services, Call& call) {
  return change_replay(services, call, core::ChangeReplay::Change::resume);
}

Write cancel_replay(const Services& services, Call& call) {
  return change_replay(services, call, core::ChangeReplay::Change::cancel);
}

Write patch_replay(const Services& services, Call& call) {
  svix::FieldErrors errors;
  Input in(call.request.body, errors);
  if (!errors.any() && !in.raw("rate")) {
    in.refuse("rate", "must be given");
  }
  const auto rate = in.number("rate", rate_least, rate_most);
  if (errors.any()) {
    return wrong_fields(errors, call.answer.request_id());
  }
  return change_replay(services, call, core::ChangeReplay::Change::rate, rate_of(*rate));
}

/// The same record under its general name.
void get_task(const Services& services, Call& call) {
  const core::TenantId tenant = call.tenant->id;
  const auto task = svix::find_task(*services.submitter.durable_view(tenant), tenant, call.param,
                                    svix::task_prefix);
  if (!task) {
    call.answer.refuse(404, "there is no such task");
    return;
  }
  call.answer(svix::object_response(200, [&](JsonWriter& json) {
    constexpr std::array<std::string_view, 6> statuses = {"",         "RUNNING", "SUCCEEDED",
                                                          "CANCELED", "FAILED",  "PENDING"};
    json.field("id", call.param);
    json.field("kind", svix::task_name(*task));
    json.field("status", statuses[static_cast<std::size_t>(task->status)]);
    json.field("total", task->total);
    json.field("processed", task->processed);
    json.field("created_at", rfc3339(task->started_at));
    if (task->ended_at != Moment{}) {
      json.field("finished_at", rfc3339(task->ended_at));
    }
    if (!task->reason.empty()) {
      json.field("reason", task->reason);
    }
  }));
}

}  // namespace hk::api::webhooks
