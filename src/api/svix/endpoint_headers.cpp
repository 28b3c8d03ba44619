// …/endpoint/{ep}/headers: what is added to each delivery.
#include <utility>

#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"

namespace hk::api::svix {

void get_headers(const Services& services, Call& call) {
  with_endpoint(services, call, [](const Reading&, const webhook::Endpoint& endpoint) {
    return headers_response(endpoint);
  });
}

Write put_headers(const Services& services, Call& call) {
  return put_headers_at(services, call, place_of(call));
}

Write patch_headers(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  HeaderChanges changes = read_header_changes(in);
  if (errors.any()) {
    return wrong_of_endpoint(services, call, errors);
  }
  EndpointPlace place = place_of(call);
  return plan_plainly(webhook::ChangeHeaders{.tenant = call.tenant->id,
                                             .application_ref = std::move(place.application),
                                             .endpoint_ref = std::move(place.endpoint),
                                             .set = std::move(changes.set),
                                             .remove = std::move(changes.remove)},
                      no_content);
}

}  // namespace hk::api::svix
