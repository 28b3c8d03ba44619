/// What can be told of a row before anything is sent. A row that no retry can help ends here, and
/// only it: its neighbours are sent. Pure; the sender's I/O thread.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/message.h"
#include "delivery/headers.h"
#include "outbox/row.h"

namespace hk::outbox {

/// Ends the row without a retry.
std::unexpected<Outcome> refuse(std::string_view reason, int http_status, std::string message);

/// Too large to be read, or not JSON although it must be. nullopt: it can be sent.
std::optional<Outcome> check_payload(const Row& row);

/// Letters, digits, '.', '_' and '-', and not a step in a path: the name of a queue or a URL group.
bool is_plain_name(std::string_view name);

/// 1 to 128 visible ASCII characters, as FIFO queues want their ids: the text itself if it is that,
/// else its SHA-256.
std::string fifo_id(std::string_view text);

/// The headers of one request, each one safe and all of them within bounds.
class CheckedHeaders {
 public:
  /// HEADERS_INVALID: the name or the value may not be sent, or they are too many.
  std::expected<void, Outcome> add(std::string name, std::string value);
  [[nodiscard]] bool has(std::string_view name) const;
  std::vector<core::Header> take() { return std::move(headers_); }

 private:
  delivery::ForwardedHeaders checked_;
  std::vector<core::Header> headers_;
};

}  // namespace hk::outbox
