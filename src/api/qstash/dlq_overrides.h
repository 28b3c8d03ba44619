/// Option headers of a call that retries dead letters: what the new messages have in place of the
/// stored options (§14.5 of the wire specification). Called on I/O threads.
#pragma once

#include <memory>
#include <vector>

#include "api/options.h"
#include "base/error.h"
#include "core/command.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

using DeadLetterChanges = std::shared_ptr<core::RetryDeadLetter::Changes>;

/// Null: the call has no option header. Takes values out of `fields`. invalid_argument names the
/// header that is wrong, or that cannot be changed on a retry. Content-Type is of the call itself:
/// that of a message changes with Upstash-Forward-Content-Type.
Result<DeadLetterChanges> read_overrides(const Options& options, Moment now, core::TenantId tenant,
                                         std::vector<net::Field>& fields);

}  // namespace hk::api::qstash
