/// Tells the log who was let in and who was not: never the credential itself, nor the path with
/// what stands in it. Called on I/O threads.
#pragma once

#include <string_view>

#include "edge/http/message.h"

namespace hk::api {

struct AuthAttempt {
  std::string_view way{};         ///< "token", "admin_token", "metrics_token" or "signature"
  std::string_view asked_for{};   ///< the route's pattern, or the action
  std::string_view access_key{};  ///< the one that a signature names; "": none
};

/// `reason`: ours, not a text of the client. Bounded by a LineLimit of the thread.
void log_refused(const http::Request& request, const AuthAttempt& attempt, std::string_view reason);
/// Only if lines of the level debug are written.
void log_accepted(const http::Request& request, const AuthAttempt& attempt,
                  std::string_view tenant);

}  // namespace hk::api
