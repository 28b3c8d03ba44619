#include "api/svix/tasks.h"

#include <algorithm>
#include <array>

#include "base/date.h"
#include "base/sortable_id.h"
#include "core/reader.h"

namespace hk::api::svix {

namespace {

using core::Task;
using Purpose = core::webhook::ReplayEvents::Purpose;

constexpr std::array task_kinds = {Task::Kind::webhook_replay, Task::Kind::webhook_expunge};
constexpr std::size_t tasks_listed_max = 10'000;

std::string_view task_status(const Task& task) {
  switch (task.status) {
    case Task::Status::running:
    case Task::Status::paused: return "running";
    case Task::Status::completed: return "finished";
    case Task::Status::canceled:
    case Task::Status::failed: return "failed";
  }
  std::unreachable();
}

}  // namespace

std::string task_id(const Task& task, std::string_view prefix) {
  return sortable_id(prefix, task.started_at, task.number, static_cast<std::uint64_t>(task.kind()));
}

std::optional<Task> find_task(core::Reader& reader, core::TenantId tenant, std::string_view id,
                              std::string_view prefix) {
  const auto number = number_in_id(id, prefix);
  if (!number) {
    return std::nullopt;
  }
  for (const Task::Kind kind : task_kinds) {
    auto task =
        reader.get<Task>({tenant, static_cast<std::uint32_t>(kind), *number, std::string()});
    if (task && task_id(*task, prefix) == id) {
      return task;
    }
  }
  return std::nullopt;
}

std::vector<Task> list_tasks(core::Reader& reader, core::TenantId tenant) {
  std::vector<Task> all;
  for (const Task::Kind kind : task_kinds) {
    auto some = reader.scan(core::Range<Task>::of(tenant, static_cast<std::uint32_t>(kind)),
                            tasks_listed_max, core::Order::descending);
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  std::ranges::sort(all, std::ranges::greater{},
                    [](const Task& one) { return task_id(one, task_prefix); });
  return all;
}

std::string_view task_name(const Task& task) {
  const auto* const replay = std::get_if<core::webhook::ReplayEvents>(&task.work);
  if (replay == nullptr) {
    return "application.purge_content";
  }
  switch (replay->purpose) {
    case Purpose::recover: return "endpoint.recover";
    case Purpose::missing: return "endpoint.replay";
    case Purpose::replay:
    case Purpose::bulk: return "endpoint.bulk-replay";
  }
  std::unreachable();
}

Moment task_updated_at(const Task& task, Moment now) {
  return task.ended_at != Moment{} ? task.ended_at : now;
}

BackgroundTask background_task_of(const Task& task, Moment now) {
  BackgroundTask shown{.id = task_id(task, background_task_prefix),
                       .status = task_status(task),
                       .task = std::string(task_name(task)),
                       .updated_at = task_updated_at(task, now)};
  JsonWriter json(shown.data);
  json.begin_object();
  if (const auto* const replay = std::get_if<core::webhook::ReplayEvents>(&task.work)) {
    json.field("messagesSent", task.processed);
    json.field("matched", task.total);
    json.field("skipped", replay->skipped);
  } else {
    json.field("messagesPurged", task.processed);
  }
  json.end_object();
  return shown;
}

core::Document report_of(core::TenantId tenant, Moment now, std::uint64_t random,
                         std::string_view task, std::string data) {
  core::Document report{.tenant = tenant,
                        .kind = report_kind,
                        .name = sortable_id(background_task_prefix, now, 0, random),
                        .created_at = now};
  report.fields = {{"Task", std::string(task)}, {"Data", std::move(data)}};
  return report;
}

BackgroundTask background_task_of(const core::Document& report) {
  BackgroundTask shown{.id = report.name, .status = "finished", .updated_at = report.created_at};
  for (const core::Header& one : report.fields) {
    if (one.name == "Task") {
      shown.task = one.value;
    } else if (one.name == "Data") {
      shown.data = one.value;
    }
  }
  return shown;
}

void write_task(JsonWriter& json, const BackgroundTask& task) {
  json.begin_object();
  json.field("id", task.id);
  json.field("status", task.status);
  json.field("task", task.task);
  json.key("data");
  json.whole(task.data.empty() ? "{}" : task.data);
  json.field("updatedAt", rfc3339(task.updated_at));
  json.end_object();
}

}  // namespace hk::api::svix
