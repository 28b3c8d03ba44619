#include "outbox/send/http_builder.h"

#include <utility>

#include "base/ascii.h"
#include "delivery/destination.h"
#include "outbox/send/check_row.h"
#include "outbox/send/reason.h"

namespace hk::outbox {

std::string HttpBuilder::target_of(const Row& row) const {
  if (!waits_) {
    return "";
  }
  const auto url =
      delivery::parse_destination(row.destination.empty() ? destination_ : row.destination);
  return url ? url->authority_key() : "";
}

Built HttpBuilder::build(Row row, Moment) {
  if (auto bad = check_payload(row)) {
    return std::unexpected(*std::move(bad));
  }
  core::Message message;
  message.url = row.destination.empty() ? destination_ : std::move(row.destination);
  if (message.url.empty()) {
    return refuse(reason::destination_invalid, 400,
                  "the row names no destination and OUTBOX_DESTINATION is not set");
  }
  if (const auto url = delivery::parse_destination(message.url); !url) {
    return refuse(reason::destination_invalid, 400, url.error().message);
  }

  CheckedHeaders headers;
  for (Header& header : row.headers) {
    if (equals_ignoring_case(header.name, idempotency_header_)) {
      continue;  // the row's own column says what the key is
    }
    if (auto added = headers.add(std::move(header.name), std::move(header.value)); !added) {
      return std::unexpected(std::move(added).error());
    }
  }
  if (!headers.has("Content-Type")) {
    if (auto added = headers.add("Content-Type", "application/json"); !added) {
      return std::unexpected(std::move(added).error());
    }
  }
  if (auto added = headers.add(idempotency_header_, std::move(row.idempotency_key)); !added) {
    return std::unexpected(std::move(added).error());
  }
  message.headers = headers.take();
  message.body = *std::move(row.payload);
  return message;
}

}  // namespace hk::outbox
