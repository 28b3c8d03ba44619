// Health, and the event types of the tenant as a whole.
#include <utility>

#include "api/svix/event_type_fields.h"
#include "api/svix/handlers.h"
#include "api/svix/input.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "base/date.h"
#include "base/json_reader.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t event_types_of_tenant_max = 10'000;

std::vector<webhook::EventType> read_imported_types(Input& in, core::TenantId tenant) {
  std::vector<webhook::EventType> types;
  const auto raw = in.raw("eventTypes");
  if (!raw) {
    return types;
  }
  JsonReader json(*raw, Input::depth_max);
  if (json.kind() != JsonReader::Kind::array) {
    in.refuse("eventTypes", "must be an array of event types", decode_error);
    return types;
  }
  json.begin_array();
  for (std::size_t i = 0; json.next_item(); ++i) {
    json.kind();
    const std::size_t begin = json.at();
    json.skip();
    if (types.size() == event_types_of_tenant_max) {
      in.refuse("eventTypes", "must have at most 10000 items");
      return types;
    }
    FieldErrors errors;
    Input one(raw->substr(begin, json.at() - begin), errors);
    types.push_back(read_event_type(one));
    types.back().tenant = tenant;
    for (FieldError error : errors.all()) {
      error.loc.insert(error.loc.begin() + 1, {"eventTypes", item_step(i)});
      in.errors().add(std::move(error));
    }
  }
  return types;
}

}  // namespace

void get_health(const Services& services, Call& call) {
  const bool ready = !services.options.ready || services.options.ready();
  const bool closed =
      services.options.refuse_publishes && services.options.refuse_publishes().has_value();
  if (ready && !closed) {
    call.answer(no_content());
    return;
  }
  call.answer.refuse(503, "the store does not accept writes at the moment");
}

Write export_environment(const Services& services, Call& call) {
  const core::TenantId tenant = call.tenant->id;
  const auto types = webhook::list_event_types(*services.submitter.durable_view(tenant), tenant, "",
                                               core::Order::ascending, event_types_of_tenant_max);
  return object_response(200, [&](JsonWriter& json) {
    json.field("version", 1);
    json.field("createdAt", rfc3339(services.now()));
    json.key("eventTypes");
    json.begin_array();
    for (const webhook::EventType& one : types) {
      write_event_type(json, one, true);
    }
    json.end_array();
    json.key("settings");
    json.null();
    json.key("connectors");
    json.begin_array();
    json.end_array();
  });
}

Write import_environment(const Services& /*services*/, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  webhook::ImportEventTypes command{.tenant = call.tenant->id};
  command.types = read_imported_types(in, call.tenant->id);
  const auto connectors = in.raw("connectors");
  if (connectors && *connectors != "[]") {
    JsonReader json(*connectors, Input::depth_max);
    if (json.kind() == JsonReader::Kind::array) {
      json.begin_array();
      if (json.next_item()) {
        return error_response(501, "Connectors are not available: leave them out.");
      }
    } else {
      in.refuse("connectors", "must be an array", decode_error);
    }
  }
  if (errors.any()) {
    return errors.response();
  }
  return plan_plainly(std::move(command), no_content);
}

}  // namespace hk::api::svix
