/// Edit and retry: two headers of ours change what one dead letter is, where option headers change
/// how it is delivered. Called on I/O threads.
#pragma once

#include <optional>
#include <string>

#include "api/options.h"
#include "base/error.h"
#include "core/command.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

struct DeadLetterEdit {
  std::optional<core::RetryDeadLetter::Target> to{};
  bool body = false;  ///< the body of the call is the new one, byte for byte, also an empty one

  [[nodiscard]] bool any() const { return to || body; }
};

/// Hikyaku-Replace-Url and Hikyaku-Replace-Body. A URL is checked as that of a publish.
/// invalid_argument names the header, or says that a body needs it.
Result<DeadLetterEdit> read_edit(const Options& options, const http::Request& request);

/// Only one entry can be edited: invalid_argument if the call for several has one of the headers.
Result<void> refuse_edit(const http::Request& request);

}  // namespace hk::api::qstash
