#include "api/auth_log.h"

#include "observe/line_limit.h"
#include "observe/log.h"

namespace hk::api {

void log_refused(const http::Request& request, const AuthAttempt& attempt,
                 std::string_view reason) {
  thread_local observe::LineLimit limit(observe::refused_lines_per_second);
  const auto left_out = limit.take(std::chrono::steady_clock::now());
  if (!left_out) {
    return;
  }
  observe::log(observe::Level::warn, "auth.refused",
               {{"peer", request.peer},
                {"way", attempt.way},
                {"reason", reason},
                {"asked_for", attempt.asked_for},
                {"access_key", attempt.access_key},
                {"left_out", *left_out}});
}

void log_accepted(const http::Request& request, const AuthAttempt& attempt,
                  std::string_view tenant) {
  if (!observe::log_enabled(observe::Level::debug)) {
    return;
  }
  observe::log(observe::Level::debug, "auth.accepted",
               {{"peer", request.peer},
                {"way", attempt.way},
                {"tenant", tenant},
                {"asked_for", attempt.asked_for},
                {"access_key", attempt.access_key}});
}

}  // namespace hk::api
