#include "outbox/send/hikyaku_builder.h"

#include <utility>

#include "base/ascii.h"
#include "delivery/destination.h"
#include "delivery/headers.h"
#include "outbox/send/check_row.h"
#include "outbox/send/reason.h"
#include "security/sigv4.h"

namespace hk::outbox {
namespace {

constexpr std::string_view queue_prefix = "queue:";
constexpr std::string_view forward_prefix = "Upstash-Forward-";

/// As one segment, escaped as a whole: nothing in a row's destination can change the path, become
/// an option of the publish, or be repaired by a proxy on the way.
std::expected<void, Outcome> append_destination(std::string& path, std::string_view destination) {
  if (is_plain_name(destination)) {
    path += destination;
    return {};
  }
  if (const auto url = delivery::parse_destination(destination); !url) {
    return refuse(reason::destination_invalid, 400, url.error().message);
  }
  security::append_uri_encoded(path, destination);
  return {};
}

}  // namespace

std::expected<HikyakuBuilder::Target, Outcome> HikyakuBuilder::find_target(
    std::string_view destination) {
  Target target;
  if (destination.empty()) {
    return refuse(reason::destination_invalid, 400,
                  "the row names no destination and OUTBOX_DESTINATION is not set");
  }
  if (!destination.starts_with(queue_prefix)) {
    target.path = "/v2/publish/";
  } else {
    destination.remove_prefix(queue_prefix.size());
    const std::size_t slash = destination.find('/');
    const std::string_view queue = destination.substr(0, slash);
    if (!is_plain_name(queue)) {
      return refuse(reason::destination_invalid, 400,
                    "a queue's name holds letters, digits, '.', '_' and '-' only: "
                    "queue:<name> or queue:<name>/<url>");
    }
    target.path.append("/v2/enqueue/").append(queue);
    if (slash == std::string_view::npos) {
      target.pulled = true;
      target.fifo = queue.ends_with(".fifo");
      return target;
    }
    target.path += '/';
    destination.remove_prefix(slash + 1);
  }
  if (auto appended = append_destination(target.path, destination); !appended) {
    return std::unexpected(std::move(appended).error());
  }
  return target;
}

std::expected<std::vector<core::Header>, Outcome> HikyakuBuilder::make_headers(
    Row& row, const Target& target) const {
  CheckedHeaders headers;
  std::optional<Outcome> bad;
  const auto add = [&](std::string name, std::string value) {
    if (bad) {
      return;
    }
    if (auto added = headers.add(std::move(name), std::move(value)); !added) {
      bad = std::move(added).error();
    }
  };
  // A queue that is pulled from takes a deduplication id only if it is FIFO.
  const bool deduplicated = !target.pulled || target.fifo;
  for (Header& header : row.headers) {
    if (equals_ignoring_case(header.name, settings_.idempotency_header) ||
        (deduplicated && equals_ignoring_case(header.name, "Upstash-Deduplication-Id")) ||
        equals_ignoring_case(header.name, "traceparent") ||
        equals_ignoring_case(header.name, "tracestate")) {
      continue;  // the row's own columns say it
    }
    if (starts_with_ignoring_case(header.name, "Upstash-") ||
        equals_ignoring_case(header.name, "Content-Type")) {
      add(std::move(header.name), std::move(header.value));
    } else if (const auto safe = delivery::may_forward(header.name, header.value); !safe) {
      return refuse(reason::headers_invalid, 400, safe.error().message);
    } else {
      add(std::string(forward_prefix) + header.name, std::move(header.value));
    }
  }
  if (!headers.has("Content-Type")) {
    add("Content-Type", "application/json");
  }
  if (deduplicated) {
    add("Upstash-Deduplication-Id",
        target.fifo ? fifo_id(row.idempotency_key) : row.idempotency_key);
  }
  if (target.fifo && !headers.has("Upstash-Message-Group-Id")) {
    add("Upstash-Message-Group-Id",
        fifo_id(row.order_key.empty() ? row.idempotency_key : row.order_key));
  }
  add(std::string(forward_prefix) + settings_.idempotency_header, std::move(row.idempotency_key));
  if (!settings_.token.empty()) {
    add("Authorization", "Bearer " + std::string(settings_.token.reveal()));
  }
  if (bad) {
    return std::unexpected(*std::move(bad));
  }
  return headers.take();
}

Built HikyakuBuilder::build(Row row, Moment) {
  if (auto bad = check_payload(row)) {
    return std::unexpected(*std::move(bad));
  }
  const auto target =
      find_target(row.destination.empty() ? settings_.destination : row.destination);
  if (!target) {
    return std::unexpected(target.error());
  }
  core::Message message;
  message.url = settings_.broker_url + target->path;
  if (const auto url = delivery::parse_destination(message.url); !url) {
    return refuse(reason::destination_invalid, 400, url.error().message);
  }
  auto headers = make_headers(row, *target);
  if (!headers) {
    return std::unexpected(std::move(headers).error());
  }
  message.headers = *std::move(headers);
  message.body = *std::move(row.payload);
  return message;
}

}  // namespace hk::outbox
