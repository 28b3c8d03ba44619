/// How errors are told on the QStash surface: {"error": "<text>"} with a fitting status. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

http::Response error_response(int status, std::string_view text);
/// What is our own fault is logged with its details and told without them.
http::Response error_response(const Error& error);

}  // namespace hk::api::qstash
