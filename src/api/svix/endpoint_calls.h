/// The calls about endpoints, for those of applications and those of operational webhooks: both are
/// the same but for where they stand in the path. On I/O threads.
#pragma once

#include <string>

#include "api/svix/fields.h"
#include "api/svix/reading.h"
#include "api/write.h"

namespace hk::api::svix {

/// Where an endpoint is: the refs that commands name it by.
struct EndpointPlace {
  std::string application{};  ///< "": of operational webhooks
  std::string endpoint{};
  [[nodiscard]] bool operational() const { return application.empty(); }
};
/// Of /app/{app}/endpoint/{ep}….
EndpointPlace place_of(const Call& call);
/// Of /operational-webhook/endpoint/{ep}….
EndpointPlace operational_place_of(const Call& call);

http::Response list_endpoints_of(const Services& services, const Call& call,
                                 const Reading& reading);
Write create_endpoint_at(const Services& services, Call& call, EndpointPlace place);
Write change_endpoint_at(const Services& services, Call& call, EndpointPlace place, Method method);
Write rotate_secret_at(const Services& services, Call& call, EndpointPlace place);
Write put_headers_at(const Services& services, Call& call, EndpointPlace place);
/// What is wrong with a body; but what the path names is looked for first.
http::Response wrong_at(const Services& services, const Call& call, const EndpointPlace& place,
                        const FieldErrors& errors);

http::Response endpoint_response(int status, const webhook::Endpoint& endpoint);
http::Response secret_response(const Services& services, const webhook::Endpoint& endpoint);
http::Response headers_response(const webhook::Endpoint& endpoint);

}  // namespace hk::api::svix
