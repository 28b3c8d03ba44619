// /api/v1/app/{app}/endpoint: where messages of an application go.
#include <utility>

#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"
#include "api/svix/render.h"

namespace hk::api::svix {

void list_endpoints(const Services& services, Call& call) {
  const Reading reading(services, call);
  call.answer(reading.application ? list_endpoints_of(services, call, reading) : no_application());
}

Write create_endpoint(const Services& services, Call& call) {
  return create_endpoint_at(services, call, place_of(call));
}

void get_endpoint(const Services& services, Call& call) {
  with_endpoint(services, call, [](const Reading&, const webhook::Endpoint& endpoint) {
    return endpoint_response(200, endpoint);
  });
}

Write put_endpoint(const Services& services, Call& call) {
  return change_endpoint_at(services, call, place_of(call), Method::put);
}

Write patch_endpoint(const Services& services, Call& call) {
  return change_endpoint_at(services, call, place_of(call), Method::patch);
}

Write delete_endpoint(const Services& /*services*/, Call& call) {
  EndpointPlace place = place_of(call);
  return plan_plainly(webhook::DeleteEndpoint{call.tenant->id, std::move(place.application),
                                              std::move(place.endpoint)},
                      no_content);
}

}  // namespace hk::api::svix
