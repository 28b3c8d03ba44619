/// What every surface tells with an error besides its text: the status, whether and when to try
/// again, and that an outcome is unknown. The texts' form is each surface's own.
#pragma once

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api {

int http_status(ErrorKind kind);
void add_error_fields(http::Response& response, ErrorKind kind);

}  // namespace hk::api
