/// The bytes of one delivery request. We write them ourselves, after checking every part that came
/// from outside, so that what is on the wire is what was accepted: one request, framed by
/// Content-Length.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "delivery/request.h"
#include "net/url.h"

namespace hk::delivery {

/// Appends the head, up to and including the empty line; the body follows as stored. On an error
/// `out` is as it was. invalid_argument: the stored method, target or a forwarded header is not one
/// that may be sent; or what the envelope says.
Result<void> append_request_head(std::string& out, const Request& request, const net::Url& url,
                                 std::chrono::sys_seconds now);

}  // namespace hk::delivery
