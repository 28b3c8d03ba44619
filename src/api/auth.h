/// Where a request says who it is. Pure, any thread.
#pragma once

#include <string>

#include "edge/http/message.h"

namespace hk::api {

/// `Authorization: Bearer <token>` (scheme in any case), else, `in_query`, the query parameter
/// qstash_token; "" if there is neither.
std::string token_of(const http::Request& request, bool in_query);

}  // namespace hk::api
