/// The OpenAPI 3.1 description of the HTTP API, made from the route table and one row of words per
/// route (openapi_rows.cpp). Made once, at the first request for it. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/call.h"

namespace hk::api {

/// What is said of a route beyond the table; found by method and pattern. Names of schemas are
/// those of openapi_schemas.cpp.
struct RouteWords {
  std::string_view method;
  std::string_view pattern;
  std::string_view tag;
  std::string_view summary;
  std::string_view query = {};     ///< parameters, separated by spaces
  std::string_view request = {};   ///< schema of the JSON body; "bytes": any body; "": none
  int status = 200;                ///< of success
  std::string_view response = {};  ///< schema of that answer; "": no schema, or not JSON
};
std::span<const RouteWords> route_words();

/// The members of "components", as JSON.
std::string_view openapi_components();

const std::string& openapi_document();

/// GET /api/openapi.json
void get_openapi(const Services& services, Call& call);

}  // namespace hk::api
