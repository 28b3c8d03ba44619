// /api/v1/app: one application for each customer of the tenant.
#include <utility>

#include "api/svix/fields.h"
#include "api/svix/handlers.h"
#include "api/svix/page.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"

namespace hk::api::svix {

namespace {

http::Response application_response(const webhook::ApplicationStored& stored) {
  http::Response response;
  response.status = stored.created ? 201 : 200;
  JsonWriter json(response.body);
  write_application(json, stored.application);
  return response;
}

Write change_application(Call& call, Method method) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  const bool by_id = webhook::number_in(call.param, webhook::application_prefix).has_value();
  webhook::ChangeApplication command{
      .tenant = call.tenant->id,
      .application_ref = call.param,
      .changes = read_application_changes(in, method, by_id),
      .create = method == Method::put,
  };
  if (errors.any()) {
    return errors.response();
  }
  return plan<webhook::ApplicationStored>(std::move(command), application_response);
}

}  // namespace

void list_applications(const Services& services, Call& call) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const Page page = read_page(query, false, true);
  const auto after = read_number(query, page, webhook::application_prefix);
  const bool no_empty = query.boolean("exclude_apps_with_no_endpoints", false);
  const bool no_disabled = query.boolean("exclude_apps_with_disabled_endpoints", false);
  query.boolean("exclude_apps_with_svix_play_endpoints", false);  // there are none
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto reader = services.submitter.durable_view(tenant);
  const auto paged = gather_page<webhook::Application>(
      page, services.options.scanned_per_listing_max, rows_at_once(page),
      [&](const webhook::Application* last, std::size_t count) {
        return webhook::list_applications(*reader, tenant,
                                          last != nullptr ? std::optional(last->number) : after,
                                          page.order(), count);
      },
      [&](const webhook::Application& one) {
        const bool out = (no_empty && one.endpoints == 0) ||
                         (no_disabled && one.endpoints > 0 && one.disabled == one.endpoints);
        return out ? Kept::no : Kept::yes;
      });
  call.answer(page_response(
      page, paged, [](const auto& one) { return webhook::id_of(one); }, write_application));
}

Write create_application(const Services& /*services*/, Call& call) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const bool get_if_exists = query.boolean("get_if_exists", false);
  Input in(call.request.body, errors);
  webhook::CreateApplication command{
      .tenant = call.tenant->id, .fields = read_application(in), .get_if_exists = get_if_exists};
  if (errors.any()) {
    return errors.response();
  }
  return plan<webhook::ApplicationStored>(std::move(command), application_response);
}

void get_application(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    call.answer(no_application());
    return;
  }
  call.answer(application_response({.application = *reading.application}));
}

Write put_application(const Services& /*services*/, Call& call) {
  return change_application(call, Method::put);
}

Write patch_application(const Services& /*services*/, Call& call) {
  return change_application(call, Method::patch);
}

Write delete_application(const Services& /*services*/, Call& call) {
  return plan_plainly(webhook::DeleteApplication{call.tenant->id, call.param}, no_content);
}

}  // namespace hk::api::svix
