// /v2/schedules: everything but the reading of a new one, which is that of a publish.
#include "api/qstash/schedules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/parameters.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/schedule_view.h"
#include "api/qstash/submit.h"
#include "api/reply.h"
#include "api/submit.h"
#include "api/text.h"
#include "core/schedule/cron.h"
#include "observe/metrics.h"

namespace hk::api::qstash {

namespace {

/// Each may have a body of some MiB, and the answer may be full after one.
constexpr std::size_t schedules_per_read = 4;

http::Response no_such_schedule(std::string_view id) {
  return error_response(404, "schedule " + std::string(id) + " not found");
}

struct Page {
  std::string after{};
  std::uint64_t count = UINT64_MAX;
};

Result<Page> read_page(std::string_view query) {
  Result<Parameters> parameters = Parameters::from_query(query);
  if (!parameters) {
    return std::unexpected(std::move(parameters.error()));
  }
  constexpr std::array<std::string_view, 2> names = {"after", "count"};
  if (auto known = parameters->only(names); !known) {
    return std::unexpected(std::move(known.error()));
  }
  Result<std::optional<std::string>> after = parameters->one("after");
  if (!after) {
    return std::unexpected(std::move(after.error()));
  }
  const Result<std::optional<std::uint64_t>> count = parameters->number("count");
  if (!count) {
    return std::unexpected(count.error());
  }
  return Page{after->value_or(""), count->value_or(UINT64_MAX)};
}

void set_schedule_paused(const Services& services, Call& call, bool paused) {
  if (call.request.method == "POST" && !valid_name(call.param)) {
    // A destination that happens to end so, like https%3A%2F%2Fexample.com/pause.
    const std::string_view target = call.request.target;
    call.rest = target.substr(target.find('/', target.find('/', 1) + 1) + 1);
    create_schedule(services, call);
    return;
  }
  core::SetSchedulePaused command{call.tenant->id, std::move(call.param), paused};
  submit_for_done(call, std::move(command));
}

}  // namespace

void submit_schedule(const Services& services, Call& call, core::Publish command,
                     CronOptions schedule) {
  const auto refuse = [&services, &call](const Error& error) {
    services.metrics.publish_refused("invalid");
    call.answer(error_response(Error{error.kind, "Upstash-Cron: " + error.message}));
  };
  Result<core::ParsedCron> cron = core::parse_cron(*schedule.cron);
  if (!cron) {
    refuse(cron.error());
    return;
  }
  if (const Result<void> known = services.options.check_zone(cron->zone); !known) {
    refuse(known.error());
    return;
  }
  core::UpsertSchedule upsert;
  upsert.schedule.tenant = call.tenant->id;
  upsert.schedule.id = std::move(schedule.id);
  upsert.schedule.cron = std::move(cron->text);
  upsert.schedule.prototype = std::move(*command.message);
  upsert.schedule.delay = command.delay;
  upsert.schedule.flow = std::move(command.flow);
  submit_then(call, std::move(upsert), [](const core::Reply& reply) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.field("scheduleId", answer_of<core::ScheduleStored>(reply).id);
    json.end_object();
    return response;
  });
}

/// Every schedule in one answer, as clients expect it. Who has more of them than fit asks for
/// pages: count, and after=<the last scheduleId>.
void list_schedules(const Services& services, Call& call) {
  const Result<Page> page = read_page(call.request.query());
  if (!page) {
    call.answer(error_response(page.error()));
    return;
  }
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_array();
  std::string after = page->after;
  std::uint64_t left = page->count;
  while (left > 0) {
    const std::size_t limit = std::min<std::uint64_t>(left, schedules_per_read);
    const auto piece = view->scan(
        core::Range<core::Schedule>::of(call.tenant->id).after(call.tenant->id, after), limit);
    for (const core::Schedule& one : piece) {
      const auto state = view->get<core::ScheduleState>({call.tenant->id, one.id});
      write_schedule(json, *view, one, state.value_or(core::ScheduleState{}),
                     services.options.timeout_default);
      if (response.body.size() > services.options.listing_bytes_max) {
        call.answer(
            error_response(413,
                           "the schedules do not fit into one answer; list them in pages with "
                           "?count=100&after=<the last scheduleId>"));
        return;
      }
    }
    if (piece.size() < limit) {
      break;
    }
    after = piece.back().id;
    left -= limit;
  }
  json.end_array();
  call.answer(std::move(response));
}

void get_schedule(const Services& services, Call& call) {
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  const auto schedule = view->get<core::Schedule>({call.tenant->id, call.param});
  const auto state = view->get<core::ScheduleState>({call.tenant->id, call.param});
  if (!schedule || !state) {
    call.answer(no_such_schedule(call.param));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_schedule(json, *view, *schedule, *state, services.options.timeout_default);
  call.answer(std::move(response));
}

void delete_schedule(const Services& /*services*/, Call& call) {
  core::DeleteScheduleCommand command{call.tenant->id, std::move(call.param)};
  submit_for_done(call, std::move(command));
}

void pause_schedule(const Services& services, Call& call) {
  set_schedule_paused(services, call, true);
}

void resume_schedule(const Services& services, Call& call) {
  set_schedule_paused(services, call, false);
}

}  // namespace hk::api::qstash
