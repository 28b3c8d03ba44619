/// What every surface tells with an error besides its text: the status, whether and when to try
/// again, and that an outcome is unknown. The texts' form is each surface's own.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api {

int http_status(ErrorKind kind);
void add_error_fields(http::Response& response, ErrorKind kind);

/// What was too much, and when to come back. In the words of QStash: its client reads them.
struct Burst {
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  std::int64_t retry_after = 1;  ///< seconds
};
/// Retry-After and Burst-RateLimit-*.
void add_burst_fields(http::Response& response, const Burst& burst);

}  // namespace hk::api
