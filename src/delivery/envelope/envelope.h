/// What a protocol puts around a message that goes out: the header fields that say which message
/// and which attempt this is, and its signature. One file per protocol; which one a message has is
/// decided in envelopes.h. The dispatcher knows none of them.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "delivery/request.h"

namespace hk::delivery {

/// What an envelope is written for.
struct Addressed {
  const Request& request;
  std::chrono::sys_seconds now;      ///< what signatures say
  bool has_idempotency_key = false;  ///< the message brings its own Idempotency-Key
};

/// May keep what it needs to sign: one per I/O thread.
class Envelope {
 public:
  Envelope() = default;
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
  virtual ~Envelope() = default;

  /// The header fields that whoever sent the message wants with it. Good until the next call.
  [[nodiscard]] virtual std::span<const core::Header> forwarded(const core::Message& message) {
    return message.headers;
  }
  /// For a message that names none itself.
  [[nodiscard]] virtual std::string_view user_agent() const = 0;
  /// Appends its fields, each with its line end, behind the message's own. An error says why the
  /// message cannot be sent.
  virtual Result<void> append_fields(std::string& out, const Addressed& addressed) = 0;
};

}  // namespace hk::delivery
