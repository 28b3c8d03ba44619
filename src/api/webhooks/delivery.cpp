// GET and PATCH /api/v1/webhooks/app/{app}/endpoint/{ep}/delivery.
#include <utility>

#include "api/svix/reading.h"
#include "api/webhooks/delivery_options.h"
#include "api/webhooks/handlers.h"
#include "api/webhooks/plan.h"
#include "api/webhooks/reading.h"

namespace hk::api::webhooks {

namespace {

http::Response delivery_response(const webhook::Delivery& delivery) {
  http::Response response;
  JsonWriter json(response.body);
  write_delivery(json, delivery);
  return response;
}

}  // namespace

void get_delivery(const Services& services, Call& call) {
  show_endpoint(
      services, call, [](const svix::Reading& reading, const webhook::Endpoint& endpoint) {
        return delivery_response(
            webhook::effective(endpoint, webhook::settings_of(reading.reader(), reading.tenant)));
      });
}

Write patch_delivery(const Services& services, Call& call) {
  const svix::Reading reading(services, call);
  const auto endpoint = find_endpoint_of(reading, call);
  if (!endpoint) {
    return not_found("endpoint");
  }
  const webhook::Settings settings = webhook::settings_of(reading.reader(), reading.tenant);
  svix::FieldErrors errors;
  svix::Input in(call.request.body, errors);
  DeliveryChange change = read_delivery_change(in, webhook::effective(*endpoint, settings));
  if (errors.any()) {
    return wrong_fields(errors, call.answer.request_id());
  }
  webhook::ChangeDelivery command{.tenant = call.tenant->id,
                                  .application_ref = call.param,
                                  .endpoint_ref = call.more_params.front(),
                                  .change = std::move(change.set),
                                  .inherit = change.inherit};
  return plan(std::move(command), [settings](const core::Reply& reply) {
    return delivery_response(
        webhook::effective(answer_of<webhook::EndpointStored>(reply).endpoint, settings));
  });
}

}  // namespace hk::api::webhooks
