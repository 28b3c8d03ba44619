// /api/v1/event-type: what can be sent, and the catalogue that customers see.
#include <algorithm>
#include <utility>

#include "api/svix/event_type_fields.h"
#include "api/svix/handlers.h"
#include "api/svix/page.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"

namespace hk::api::svix {

namespace {

/// May the caller know of it? Flags hide it from the tokens of applications that lack all of them.
bool is_shown_to(const Call& call, const webhook::EventType& type) {
  if (!call.app || type.feature_flags.empty() || call.app->all_feature_flags) {
    return true;
  }
  return std::ranges::any_of(type.feature_flags, [&call](const std::string& flag) {
    return std::ranges::find(call.app->feature_flags, flag) != call.app->feature_flags.end();
  });
}

Said event_type_response(const webhook::EventTypeStored& stored) {
  http::Response response;
  response.status = stored.created ? 201 : 200;
  JsonWriter json(response.body);
  write_event_type(json, stored.type, true);
  return response;
}

Write change_event_type(Call& call, Method method) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  webhook::ChangeEventType command{.tenant = call.tenant->id,
                                   .name = call.param,
                                   .changes = read_event_type_changes(in, method),
                                   .create = method == Method::put};
  if (errors.any()) {
    return errors.response();
  }
  if (method == Method::put && !check_name(call.param).empty()) {
    return not_found();
  }
  return plan<webhook::EventTypeStored>(std::move(command), event_type_response);
}

}  // namespace

void list_event_types(const Services& services, Call& call) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const Page page = read_page(query, false, true);
  if (!page.iterator.empty() && !check_name(page.iterator).empty()) {
    query.refuse("iterator", "must be the iterator of an answer to the same list");
  }
  const bool archived = query.boolean("include_archived", false);
  const bool with_content = query.boolean("with_content", false);
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto reader = services.submitter.durable_view(tenant);
  const auto paged = gather_page<webhook::EventType>(
      page, services.options.scanned_per_listing_max, rows_at_once(page),
      [&](const webhook::EventType* last, std::size_t count) {
        return webhook::list_event_types(
            *reader, tenant, last != nullptr ? last->name : page.iterator, page.order(), count);
      },
      [&](const webhook::EventType& one) {
        return (one.archived && !archived) || !is_shown_to(call, one) ? Kept::no : Kept::yes;
      });
  call.answer(page_response(
      page, paged, [](const auto& one) { return one.name; },
      [with_content](JsonWriter& json, const auto& one) {
        write_event_type(json, one, with_content);
      }));
}

Write create_event_type(const Services& /*services*/, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  webhook::CreateEventType command{.type = read_event_type(in)};
  if (errors.any()) {
    return errors.response();
  }
  command.type.tenant = call.tenant->id;
  return plan<webhook::EventTypeStored>(std::move(command), [](webhook::EventTypeStored stored) {
    stored.created = true;  // archived ones begin anew
    return event_type_response(stored);
  });
}

void get_event_type(const Services& services, Call& call) {
  const core::TenantId tenant = call.tenant->id;
  const auto type =
      webhook::find_event_type(*services.submitter.durable_view(tenant), tenant, call.param);
  if (!type || !is_shown_to(call, *type)) {
    call.answer(not_found());
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_event_type(json, *type, true);
  call.answer(std::move(response));
}

Write put_event_type(const Services& /*services*/, Call& call) {
  return change_event_type(call, Method::put);
}

Write patch_event_type(const Services& /*services*/, Call& call) {
  return change_event_type(call, Method::patch);
}

Write delete_event_type(const Services& /*services*/, Call& call) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const bool expunge = query.boolean("expunge", false);
  if (errors.any()) {
    return errors.response();
  }
  return plan_plainly(webhook::DeleteEventType{call.tenant->id, call.param, expunge}, no_content);
}

}  // namespace hk::api::svix
