/// What a protocol puts around a message that goes out: the header fields that say which message
/// and which attempt this is, and its signature; and how it reads the answer. One file per
/// protocol; which one a message has is decided in envelopes.h. The dispatcher knows none of them.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "delivery/headers.h"
#include "delivery/outcome.h"
#include "delivery/request.h"

namespace hk::delivery {

struct Response;

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
  [[nodiscard]] virtual std::span<const core::Header> forwarded(const Request& request) {
    return request.message->headers;
  }
  /// How many of them, and how large, may be sent.
  [[nodiscard]] virtual ForwardedHeaders bounds() const { return ForwardedHeaders(); }
  /// For a message that names none itself.
  [[nodiscard]] virtual std::string_view user_agent() const = 0;
  /// Appends its fields, each with its line end, behind the message's own. An error says why the
  /// message cannot be sent; unavailable: neither the message nor its receiver is to blame.
  virtual Result<void> append_fields(std::string& out, const Addressed& addressed) = 0;

  /// nullopt: as the dispatcher has it.
  [[nodiscard]] virtual std::optional<AnswerBounds> answer_bounds() const { return std::nullopt; }
  /// What the answer means.
  [[nodiscard]] virtual Outcome judge(const Request& request, const Response& response) const;
  /// Why there was no answer, in the protocol's words.
  [[nodiscard]] virtual std::string explained(std::string error) const { return error; }
};

}  // namespace hk::delivery
