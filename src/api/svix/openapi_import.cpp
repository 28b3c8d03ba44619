// POST /api/v1/event-type/import/openapi: an event type for each webhook of a document.
#include <boost/json.hpp>
#include <utility>

#include "api/svix/event_type_fields.h"
#include "api/svix/handlers.h"
#include "api/svix/input.h"
#include "api/svix/openapi_document.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"

namespace hk::api::svix {

namespace {

/// Members of `data`: those that have changed or would, and, if they would, what they become.
http::Response imported_response(const std::vector<std::string>& modified,
                                 const std::vector<webhook::EventType>* to_modify) {
  return object_response(200, [&](JsonWriter& json) {
    json.key("data");
    json.begin_object();
    texts(json, "modified", modified);
    json.key("to_modify");
    if (to_modify == nullptr) {
      json.null();
    } else {
      json.begin_array();
      for (const webhook::EventType& one : *to_modify) {
        json.begin_object();
        json.field("name", one.name);
        json.field("description", one.description);
        json.key("schemas");
        json.whole(one.schemas.empty() ? "null" : one.schemas);
        json.field("deprecated", one.deprecated);
        text_or_null(json, "groupName", one.group);
        texts_or_null(json, "featureFlags", one.feature_flags);
        json.end_object();
      }
      json.end_array();
    }
    json.end_object();
  });
}

bool is_as_it_was(const webhook::EventType& known, const webhook::EventType& now) {
  return !known.archived && known.description == now.description && known.schemas == now.schemas &&
         known.group == now.group && known.deprecated == now.deprecated;
}

http::Response planned_import(const Services& services, core::TenantId tenant,
                              std::vector<webhook::EventType> types) {
  const auto reader = services.submitter.durable_view(tenant);
  std::vector<std::string> modified;
  std::erase_if(types, [&](const webhook::EventType& one) {
    const auto known = webhook::find_event_type(*reader, tenant, one.name);
    return known && is_as_it_was(*known, one);
  });
  for (const webhook::EventType& one : types) {
    modified.push_back(one.name);
  }
  return imported_response(modified, &types);
}

}  // namespace

Write import_openapi(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  const bool dry_run = in.boolean("dryRun").value_or(false);
  const bool replace_all = in.boolean("replaceAll").value_or(false);
  const auto spec = in.raw("spec");
  const auto raw = in.text("specRaw");
  if (errors.any()) {
    return errors.response();
  }
  if (spec.has_value() == raw.has_value()) {
    return error_response(400, "generic_error",
                          "Give exactly one of spec (an object) and specRaw (a text).");
  }
  Result<std::vector<webhook::EventType>> types =
      read_openapi(spec ? std::string(*spec) : *raw, call.tenant->id);
  if (!types) {
    in.refuse(spec ? "spec" : "specRaw", types.error().message);
    return errors.response();
  }
  if (dry_run) {
    return planned_import(services, call.tenant->id, std::move(*types));
  }
  return plan<webhook::EventTypesImported>(
      webhook::ImportEventTypes{call.tenant->id, std::move(*types), replace_all},
      [](const webhook::EventTypesImported& imported) {
        return imported_response(imported.changed, nullptr);
      });
}

}  // namespace hk::api::svix
