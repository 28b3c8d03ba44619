// /api/v1/background-task: how far tasks are.
#include <algorithm>
#include <array>

#include "api/svix/handlers.h"
#include "api/svix/page.h"
#include "api/svix/query.h"
#include "api/svix/tasks.h"
#include "base/sortable_id.h"

namespace hk::api::svix {

namespace {

/// Newest first. Reports are kept as long as tasks; those that are older go unseen.
std::vector<BackgroundTask> all_of(const Services& services, core::TenantId tenant) {
  constexpr std::size_t reports_max = 10'000;
  const auto reader = services.submitter.durable_view(tenant);
  std::vector<BackgroundTask> all;
  for (const core::Task& one : list_tasks(*reader, tenant)) {
    all.push_back(background_task_of(one, services.now()));
  }
  for (const core::Document& one :
       reader->scan(core::Range<core::Document>::of(tenant, core::Folder(report_kind)), reports_max,
                    core::Order::descending)) {
    all.push_back(background_task_of(one));
  }
  std::ranges::sort(all, std::ranges::greater{}, &BackgroundTask::id);
  return all;
}

}  // namespace

void list_background_tasks(const Services& services, Call& call) {
  constexpr std::array<std::string_view, 3> statuses = {"running", "finished", "failed"};
  constexpr std::array<std::string_view, 6> names = {
      "endpoint.recover",          "endpoint.replay",   "endpoint.bulk-replay",
      "application.purge_content", "application.stats", "event-type.aggregate"};
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const Page page = read_page(query, true, true);
  if (!page.iterator.empty() && !number_in_id(page.iterator, background_task_prefix)) {
    query.refuse("iterator", "must be the iterator of an answer to the same list");
  }
  const auto status = query.one_of("status", statuses);
  const auto name = query.one_of("task", names);
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  std::vector<BackgroundTask> all = all_of(services, tenant);
  const bool descending = page.order() == core::Order::descending;
  std::erase_if(all, [&](const BackgroundTask& one) {
    const bool behind =
        page.iterator.empty() || (descending ? one.id < page.iterator : one.id > page.iterator);
    return !behind || (status && statuses[*status] != one.status) ||
           (name && names[*name] != one.task);
  });
  if (!descending) {
    std::ranges::reverse(all);
  }
  Paged<BackgroundTask> paged;
  paged.done = all.size() <= page.limit;
  all.resize(std::min(all.size(), page.limit));
  paged.rows = std::move(all);
  if (page.back) {
    std::ranges::reverse(paged.rows);
  }
  call.answer(page_response(
      page, paged, [](const BackgroundTask& one) { return one.id; }, write_task));
}

void get_background_task(const Services& services, Call& call) {
  const core::TenantId tenant = call.tenant->id;
  const auto reader = services.submitter.durable_view(tenant);
  std::optional<BackgroundTask> shown;
  if (const auto task = find_task(*reader, tenant, call.param, background_task_prefix)) {
    shown = background_task_of(*task, services.now());
  } else if (const auto report = reader->get<core::Document>({tenant, report_kind, call.param})) {
    shown = background_task_of(*report);
  }
  if (!shown) {
    call.answer(not_found());
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_task(json, *shown);
  call.answer(std::move(response));
}

}  // namespace hk::api::svix
