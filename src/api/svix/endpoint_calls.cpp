#include "api/svix/endpoint_calls.h"

#include <utility>

#include "api/svix/plan.h"
#include "api/svix/render.h"
#include "api/svix/secrets.h"
#include "core/webhook/operational.h"

namespace hk::api::svix {

namespace {

/// Those of operational webhooks are the server's, not the tenant's.
void check_operational_types(Input& in, const std::vector<std::string>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!webhook::is_operational_event(types[i])) {
      in.refuse_item("eventTypes", item_step(i), "is no operational event: see the reference");
    }
  }
}

constexpr std::int64_t grace_max = 604'800;
constexpr std::int64_t grace_default = 86'400;

}  // namespace

EndpointPlace place_of(const Call& call) {
  return {call.param, call.more_params.empty() ? std::string() : call.more_params.front()};
}

EndpointPlace operational_place_of(const Call& call) { return {{}, call.param}; }

http::Response endpoint_response(int status, const webhook::Endpoint& endpoint) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_endpoint(json, endpoint);
  return response;
}

http::Response list_endpoints_of(const Services& services, const Call& call,
                                 const Reading& reading) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const Page page = read_page(query, true, true);
  const auto after = read_number(query, page, webhook::endpoint_prefix);
  if (errors.any()) {
    return errors.response();
  }
  const auto paged = gather_page<webhook::Endpoint>(
      page, services.options.scanned_per_listing_max, rows_at_once(page),
      [&](const webhook::Endpoint* last, std::size_t count) {
        return webhook::list_endpoints(reading.reader(), reading.tenant, reading.number,
                                       last != nullptr ? std::optional(last->number) : after,
                                       page.order(), count);
      },
      [](const webhook::Endpoint&) { return Kept::yes; });
  return page_response(
      page, paged, [](const auto& one) { return webhook::id_of(one); }, write_endpoint);
}

Write create_endpoint_at(const Services& services, Call& call, EndpointPlace place) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  webhook::CreateEndpoint command{.tenant = call.tenant->id,
                                  .application_ref = place.application,
                                  .fields = read_endpoint(services, in, place.operational())};
  if (place.operational()) {
    check_operational_types(in, command.fields.event_types);
  }
  command.secret = read_signing_secret(services, call, in, "secret");
  if (errors.any()) {
    return wrong_at(services, call, place, errors);
  }
  return plan<webhook::EndpointStored>(std::move(command),
                                       [](const webhook::EndpointStored& stored) {
                                         return endpoint_response(201, stored.endpoint);
                                       });
}

Write change_endpoint_at(const Services& services, Call& call, EndpointPlace place, Method method) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  const bool by_id = webhook::number_in(place.endpoint, webhook::endpoint_prefix).has_value();
  webhook::ChangeEndpoint command{
      .tenant = call.tenant->id,
      .application_ref = place.application,
      .endpoint_ref = place.endpoint,
      .changes = read_endpoint_changes(services, in, method, by_id, place.operational()),
      // 10: of an operational webhook there is nothing that PUT makes.
      .create = method == Method::put && !place.operational(),
  };
  if (place.operational() && command.changes.event_types) {
    check_operational_types(in, *command.changes.event_types);
  }
  if (errors.any()) {
    if (command.create) {  // where nothing is yet, there may be soon
      place.endpoint.clear();
    }
    return wrong_at(services, call, place, errors);
  }
  if (command.create) {
    command.secret = make_signing_secret(services, call);
  }
  return plan<webhook::EndpointStored>(
      std::move(command), [](const webhook::EndpointStored& stored) {
        return endpoint_response(stored.created ? 201 : 200, stored.endpoint);
      });
}

Write rotate_secret_at(const Services& services, Call& call, EndpointPlace place) {
  FieldErrors errors;
  Input in(call.request.body, errors, Input::Empty::object);
  webhook::RotateSecret command{.tenant = call.tenant->id,
                                .application_ref = place.application,
                                .endpoint_ref = place.endpoint,
                                .secret = read_signing_secret(services, call, in, "key")};
  command.grace =
      std::chrono::seconds{in.integer("gracePeriodSeconds", 0, grace_max).value_or(grace_default)};
  if (errors.any()) {
    return wrong_at(services, call, place, errors);
  }
  return plan_plainly(std::move(command), no_content);
}

http::Response wrong_at(const Services& services, const Call& call, const EndpointPlace& place,
                        const FieldErrors& errors) {
  const Reading reading =
      place.operational() ? Reading::operational(services, call) : Reading(services, call);
  if (!place.operational() && !reading.application) {
    return no_application();
  }
  const bool there = place.endpoint.empty() || reading.endpoint(place.endpoint);
  return there ? errors.response() : not_found();
}

Write put_headers_at(const Services& services, Call& call, EndpointPlace place) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  if (!errors.any() && !in.raw("headers")) {
    in.refuse("headers", "must be given", decode_error);
  }
  webhook::ChangeHeaders command{.tenant = call.tenant->id,
                                 .application_ref = place.application,
                                 .endpoint_ref = place.endpoint,
                                 .replace = true,
                                 .set = read_headers(in, "headers", false)};
  if (errors.any()) {
    return wrong_at(services, call, place, errors);
  }
  return plan_plainly(std::move(command), no_content);
}

http::Response secret_response(const Services& services, const webhook::Endpoint& endpoint) {
  if (endpoint.secrets.empty()) {
    return error_response(500, "the endpoint has no signing key: rotate it");
  }
  const auto shown = shown_secret(services, endpoint.tenant, endpoint.secrets.front());
  if (!shown) {
    return error_response(500, "the signing key cannot be opened: rotate it");
  }
  return object_response(200, [&](JsonWriter& json) { json.field("key", *shown); });
}

http::Response headers_response(const webhook::Endpoint& endpoint) {
  return object_response(200, [&](JsonWriter& json) { write_headers(json, endpoint); });
}

}  // namespace hk::api::svix
