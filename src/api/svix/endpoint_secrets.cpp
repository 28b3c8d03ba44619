// …/endpoint/{ep}/secret: what its deliveries are signed with.
#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"

namespace hk::api::svix {

void get_secret(const Services& services, Call& call) {
  with_endpoint(services, call, [&](const Reading&, const webhook::Endpoint& endpoint) {
    return secret_response(services, endpoint);
  });
}

Write rotate_secret(const Services& services, Call& call) {
  return rotate_secret_at(services, call, place_of(call));
}

}  // namespace hk::api::svix
