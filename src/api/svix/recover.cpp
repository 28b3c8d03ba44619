// Recover, replay-missing, bulk-replay, and the expunging of all that an application has: tasks.
#include <algorithm>
#include <array>
#include <utility>

#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"
#include "api/svix/tasks.h"

namespace hk::api::svix {

namespace {

using Purpose = webhook::ReplayEvents::Purpose;

Planned plan_task(core::Command command, Moment now) {
  return plan<core::TaskStored>(std::move(command), [now](const core::TaskStored& stored) {
    http::Response response;
    response.status = 202;
    JsonWriter json(response.body);
    write_task(json, background_task_of(stored.task, now));
    return response;
  });
}

void read_range(Input& in, webhook::ReplayEvents& what, Moment now) {
  if (!in.errors().any() && !in.raw("since")) {
    in.refuse("since", "must be given", decode_error);
  }
  const auto since = in.time("since");
  what.since = since.value_or(Moment{});
  what.until = in.time("until").value_or(now + Millis{1});
  if (since && what.since >= what.until) {
    in.refuse("since", "must be before until");
  }
}

void read_bulk_filter(Input& in, webhook::ReplayFilter& filter) {
  constexpr std::size_t types_max = 1000;
  constexpr std::array<std::int64_t, 6> classes = {0, 100, 200, 300, 400, 500};
  filter.event_types = in.texts("eventTypes", {.item = check_name, .most = types_max})
                           .value_or(std::vector<std::string>{});
  if (auto channel = in.text("channel", check_channel)) {
    filter.channels.push_back(std::move(*channel));
  }
  if (auto tag = in.text("tag", check_tag)) {
    filter.tags.push_back(std::move(*tag));
  }
  if (const auto status = in.integer("status", 0, 4)) {
    filter.statuses = 1U << static_cast<unsigned>(*status);
  }
  if (const auto status_class = in.integer("statusCodeClass", 0, 500)) {
    if (std::ranges::find(classes, *status_class) == classes.end()) {
      in.refuse("statusCodeClass", "must be one of 0, 100, 200, 300, 400, 500");
    }
    filter.status_classes.push_back(static_cast<std::uint32_t>(*status_class));
  }
}

Write start_replay(const Services& services, Call& call, Purpose purpose) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  const Moment now = services.now();
  core::StartReplay command{.tenant = call.tenant->id,
                            .application_ref = call.param,
                            .endpoint_refs = {call.more_params.front()},
                            .rate = replay_rate_default};
  command.what.purpose = purpose;
  read_range(in, command.what, now);
  switch (purpose) {
    case Purpose::recover:
      command.what.filter.statuses = 1U << static_cast<unsigned>(webhook::Shown::failed);
      break;
    case Purpose::missing: command.what.missing_only = true; break;
    case Purpose::replay:
    case Purpose::bulk: read_bulk_filter(in, command.what.filter); break;
  }
  if (errors.any()) {
    return wrong_of_endpoint(services, call, errors);
  }
  return plan_task(std::move(command), now);
}

}  // namespace

Write recover(const Services& services, Call& call) {
  return start_replay(services, call, Purpose::recover);
}

Write replay_missing(const Services& services, Call& call) {
  return start_replay(services, call, Purpose::missing);
}

Write bulk_replay(const Services& services, Call& call) {
  return start_replay(services, call, Purpose::bulk);
}

Write expunge_all(const Services& services, Call& call) {
  return plan_task(core::StartExpunge{call.tenant->id, call.param}, services.now());
}

}  // namespace hk::api::svix
