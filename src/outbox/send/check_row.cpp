#include "outbox/send/check_row.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "outbox/is_json.h"
#include "outbox/send/reason.h"
#include "security/sigv4.h"

namespace hk::outbox {
namespace {

constexpr std::size_t payload_depth_max = 256;
constexpr std::size_t fifo_id_bytes_max = 128;

}  // namespace

std::unexpected<Outcome> refuse(std::string_view reason, int http_status, std::string message) {
  Outcome outcome;
  outcome.ending = Ending::aborted;
  outcome.reason_code = reason;
  outcome.http_status = http_status;
  outcome.message = std::move(message);
  return std::unexpected(std::move(outcome));
}

std::optional<Outcome> check_payload(const Row& row) {
  if (!row.payload) {
    return refuse(reason::payload_too_large, 413,
                  "the payload is larger than OUTBOX_PAYLOAD_MAX_BYTES")
        .error();
  }
  if (row.is_json && !is_json(*row.payload, payload_depth_max)) {
    return refuse(reason::payload_invalid, 400,
                  "the payload is not JSON: one value in UTF-8, nested at most 256 levels deep")
        .error();
  }
  return std::nullopt;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && std::ranges::all_of(name, [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::string fifo_id(std::string_view text) {
  const bool fits = !text.empty() && text.size() <= fifo_id_bytes_max &&
                    std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  return fits ? std::string(text) : security::hex_sha256(text);
}

std::expected<void, Outcome> CheckedHeaders::add(std::string name, std::string value) {
  if (auto safe = checked_.add(name, value); !safe) {
    return refuse(reason::headers_invalid, 400, std::move(safe).error().message);
  }
  headers_.push_back({std::move(name), std::move(value)});
  return {};
}

bool CheckedHeaders::has(std::string_view name) const {
  return std::ranges::any_of(headers_, [name](const core::Header& header) {
    return equals_ignoring_case(header.name, name);
  });
}

}  // namespace hk::outbox
