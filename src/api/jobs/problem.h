/// How errors are told on /api/v1: RFC 9457 problem details. Pure.
#pragma once

#include <string_view>

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api::jobs {

http::Response problem(int status, std::string_view detail);
/// What is our own fault is logged with its details and told without them.
http::Response problem(const Error& error);

}  // namespace hk::api::jobs
