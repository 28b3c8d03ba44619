// GET and PATCH /api/v1/webhooks/settings.
#include <utility>

#include "api/svix/input.h"
#include "api/webhooks/delivery_options.h"
#include "api/webhooks/handlers.h"
#include "api/webhooks/plan.h"
#include "core/webhook/read.h"

namespace hk::api::webhooks {

namespace {

constexpr std::int64_t payload_bytes_least = 1024;
constexpr std::int64_t payload_bytes_most = std::int64_t{8} * 1024 * 1024;
constexpr std::int64_t endpoints_most = 10'000;

http::Response settings_response(const webhook::Settings& settings) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("delivery");
  write_delivery(json, webhook::effective(settings));
  json.field("eventTypes", settings.known_types_only ? "known" : "open");
  json.field("schemaCheck", "off");
  json.field("httpsOnly", settings.https_only);
  json.field("maxPayloadBytes", settings.payload_bytes_max);
  json.field("maxEndpointsPerApp", settings.endpoints_max);
  json.end_object();
  return response;
}

webhook::Settings stored_settings(const Services& services, const Call& call) {
  const core::TenantId tenant = call.tenant->id;
  return webhook::settings_of(*services.submitter.durable_view(tenant), tenant);
}

/// null is the default again.
void read_event_type_rule(svix::Input& in, webhook::Settings& settings) {
  if (in.is_null("eventTypes")) {
    settings.known_types_only = false;
  }
  const auto text = in.text("eventTypes");
  if (text && *text != "open" && *text != "known") {
    in.refuse("eventTypes", "must be open or known");
  } else if (text) {
    settings.known_types_only = *text == "known";
  }
}

template <class Number>
void read_limit(svix::Input& in, std::string_view name, Number& out, Number otherwise,
                std::int64_t least, std::int64_t most) {
  if (in.is_null(name)) {
    out = otherwise;
  }
  if (const auto number = in.integer(name, least, most)) {
    out = static_cast<Number>(*number);
  }
}

}  // namespace

void get_settings(const Services& services, Call& call) {
  call.answer(settings_response(stored_settings(services, call)));
}

Write patch_settings(const Services& services, Call& call) {
  webhook::Settings settings = stored_settings(services, call);
  settings.tenant = call.tenant->id;
  svix::FieldErrors errors;
  svix::Input in(call.request.body, errors);
  if (auto delivery = in.object("delivery")) {
    const DeliveryChange change = read_delivery_change(*delivery, webhook::effective(settings));
    webhook::merge(settings.delivery, change.set, change.inherit);
  } else if (in.is_null("delivery")) {
    settings.delivery = {};
  }
  read_event_type_rule(in, settings);
  const auto check = in.text("schemaCheck");
  if (check && *check != "off" && *check != "warn" && *check != "refuse") {
    in.refuse("schemaCheck", "must be off, warn or refuse");
  }
  if (in.is_null("httpsOnly")) {
    settings.https_only = false;
  }
  settings.https_only = in.boolean("httpsOnly").value_or(settings.https_only);
  read_limit(in, "maxPayloadBytes", settings.payload_bytes_max,
             webhook::Settings{}.payload_bytes_max, payload_bytes_least, payload_bytes_most);
  read_limit(in, "maxEndpointsPerApp", settings.endpoints_max, webhook::Settings{}.endpoints_max, 1,
             endpoints_most);
  if (errors.any()) {
    return wrong_fields(errors, call.answer.request_id());
  }
  if (check && *check != "off") {
    return Refusal{.status = 501,
                   .detail =
                       "schemaCheck: payloads are not checked against schemas by this "
                       "server; only off is available"};
  }
  return plan(webhook::PutSettings{settings},
              [settings](const core::Reply& /*reply*/) { return settings_response(settings); });
}

}  // namespace hk::api::webhooks
