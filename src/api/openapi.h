/// The OpenAPI 3.1 description of the HTTP API, made from the route tables. Made once, at the first
/// request for it. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/call.h"

namespace hk::api {

/// The members of "components", as JSON.
std::string_view openapi_components();

const std::string& openapi_document();

/// GET /api/openapi.json
void get_openapi(const Services& services, Call& call);

}  // namespace hk::api
