// /api/v1/operational-webhook/endpoint: what the server itself tells the tenant about deliveries.
#include <utility>

#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"
#include "api/svix/render.h"

namespace hk::api::svix {

namespace {

template <class Show>
void with_operational(const Services& services, Call& call, Show&& show) {
  const auto endpoint = Reading::operational(services, call).endpoint(call.param);
  call.answer(endpoint ? show(*endpoint) : not_found());
}

}  // namespace

void list_operational(const Services& services, Call& call) {
  call.answer(list_endpoints_of(services, call, Reading::operational(services, call)));
}

Write create_operational(const Services& services, Call& call) {
  return create_endpoint_at(services, call, {});
}

void get_operational(const Services& services, Call& call) {
  with_operational(services, call, [](const webhook::Endpoint& endpoint) {
    return endpoint_response(200, endpoint);
  });
}

Write put_operational(const Services& services, Call& call) {
  return change_endpoint_at(services, call, operational_place_of(call), Method::put);
}

Write delete_operational(const Services& /*services*/, Call& call) {
  return plan_plainly(webhook::DeleteEndpoint{call.tenant->id, {}, call.param}, no_content);
}

void get_operational_secret(const Services& services, Call& call) {
  with_operational(services, call, [&](const webhook::Endpoint& endpoint) {
    return secret_response(services, endpoint);
  });
}

Write rotate_operational_secret(const Services& services, Call& call) {
  return rotate_secret_at(services, call, operational_place_of(call));
}

void get_operational_headers(const Services& services, Call& call) {
  with_operational(services, call, headers_response);
}

Write put_operational_headers(const Services& services, Call& call) {
  return put_headers_at(services, call, operational_place_of(call));
}

}  // namespace hk::api::svix
