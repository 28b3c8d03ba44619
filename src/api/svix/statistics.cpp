// /api/v1/stats: reports about applications. They are made when they are asked for, and kept.
#include <algorithm>
#include <utility>

#include "api/svix/handlers.h"
#include "api/svix/input.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/tasks.h"

namespace hk::api::svix {

namespace {

/// What one report looks at: it is made while others wait.
constexpr std::size_t report_endpoints_max = 10'000;
constexpr std::size_t report_ids_max = 1000;

std::uint64_t report_hour(Moment moment) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::hours>(moment).time_since_epoch().count());
}

/// Nothing: there is too much to look at.
using Applications = std::vector<webhook::Application>;
std::optional<Applications> all_applications(core::Reader& reader, core::TenantId tenant) {
  Applications all = webhook::list_applications(reader, tenant, {}, core::Order::ascending,
                                                report_endpoints_max + 1);
  std::uint64_t endpoints = 0;
  for (const webhook::Application& one : all) {
    endpoints += one.endpoints;
  }
  const bool fits = all.size() <= report_endpoints_max && endpoints <= report_endpoints_max;
  return fits ? std::optional(std::move(all)) : std::nullopt;
}

http::Response too_much() {
  return error_response(400, "limit_reached",
                        "There is too much for one report: name fewer applications.");
}

std::vector<webhook::Endpoint> endpoints_of_application(core::Reader& reader,
                                                        const webhook::Application& application) {
  return webhook::list_endpoints(reader, application.tenant, application.number, {},
                                 core::Order::ascending, report_endpoints_max);
}

std::uint64_t attempts_of_application(core::Reader& reader, const webhook::Application& application,
                                      Moment since, Moment until) {
  std::uint64_t attempts = 0;
  for (const webhook::Endpoint& endpoint : endpoints_of_application(reader, application)) {
    for (const webhook::Stats& one : webhook::list_stats(
             reader, application.tenant, endpoint.number, report_hour(since), report_hour(until))) {
      attempts += one.succeeded + one.failed;
    }
  }
  return attempts;
}

/// Stores the report, and tells it. `more` adds members to the answer alone.
template <class More>
Planned keep_report(core::Document report, More more) {
  BackgroundTask task = background_task_of(report);
  return plan_plainly(core::PutDocumentCommand{.document = std::move(report)},
                      [task = std::move(task), more = std::move(more)] {
                        http::Response response;
                        response.status = 202;
                        JsonWriter json(response.body);
                        write_task(json, task);
                        response.body.pop_back();  // the brace
                        more(response.body);
                        response.body += '}';
                        return response;
                      });
}

}  // namespace

Write usage_by_application(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  for (const std::string_view name : {"since", "until"}) {
    if (!errors.any() && !in.raw(name)) {
      in.refuse(name, "must be given", decode_error);
    }
  }
  const Moment since = in.time("since").value_or(Moment{});
  const Moment until = in.time("until").value_or(never);
  if (!errors.any() && since >= until) {
    in.refuse("since", "must be before until");
  }
  const auto ids = in.texts("appIds", {.least = 1, .most = report_ids_max, .unique = false});
  if (errors.any()) {
    return errors.response();
  }
  const core::TenantId tenant = call.tenant->id;
  const auto reader = services.submitter.durable_view(tenant);
  Applications applications;
  std::vector<std::string> unresolved;
  if (ids) {
    for (const std::string& id : *ids) {
      if (auto found = webhook::find_application(*reader, tenant, id)) {
        applications.push_back(std::move(*found));
      } else {
        unresolved.push_back(id);
      }
    }
    if (applications.empty()) {
      in.refuse("appIds", "none of them is an application");
      return errors.response();
    }
  } else if (auto all = all_applications(*reader, tenant)) {
    applications = std::move(*all);
  } else {
    return too_much();
  }
  const std::string data =
      object_response(200, [&](JsonWriter& json) {
        json.key("appStats");
        json.begin_array();
        for (const webhook::Application& one : applications) {
          json.begin_object();
          json.field("appId", webhook::id_of(one));
          text_or_null(json, "appUid", one.uid);
          json.field("messageDestinations", attempts_of_application(*reader, one, since, until));
          json.end_object();
        }
        json.end_array();
      }).body;
  return keep_report(
      report_of(tenant, services.now(), call.batcher.rng().next(), "application.stats", data),
      [unresolved = std::move(unresolved)](std::string& out) {
        out += ",\"unresolvedAppIds\":";
        JsonWriter json(out);
        json.begin_array();
        for (const std::string& one : unresolved) {
          json.string(one);
        }
        json.end_array();
      });
}

Write usage_by_event_type(const Services& services, Call& call) {
  const core::TenantId tenant = call.tenant->id;
  const auto reader = services.submitter.durable_view(tenant);
  const auto applications = all_applications(*reader, tenant);
  if (!applications) {
    return too_much();
  }
  const std::string data =
      object_response(200, [&](JsonWriter& json) {
        json.key("event_types");
        json.begin_array();
        for (const webhook::Application& one : *applications) {
          std::vector<std::string> types;
          bool catches_all = false;
          for (const webhook::Endpoint& endpoint : endpoints_of_application(*reader, one)) {
            catches_all = catches_all || endpoint.event_types.empty();
            types.insert(types.end(), endpoint.event_types.begin(), endpoint.event_types.end());
          }
          std::ranges::sort(types);
          const auto repeated = std::ranges::unique(types);
          types.erase(repeated.begin(), repeated.end());
          json.begin_object();
          json.field("appId", webhook::id_of(one));
          texts(json, "explicitlySubscribedEventTypes", types);
          json.field("hasCatchAllEndpoint", catches_all);
          json.end_object();
        }
        json.end_array();
      }).body;
  return keep_report(
      report_of(tenant, services.now(), call.batcher.rng().next(), "event-type.aggregate", data),
      [](std::string& /*out*/) {});
}

}  // namespace hk::api::svix
