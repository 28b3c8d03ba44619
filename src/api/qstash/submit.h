/// Commands of which nothing is told but that they are done. I/O threads.
#pragma once

#include "api/call.h"

namespace hk::api::qstash {

/// Answers {} once it is durable, or says what was wrong.
void submit_for_done(Call& call, core::Command command);

}  // namespace hk::api::qstash
