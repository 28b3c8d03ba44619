#include "delivery/request.h"

#include <array>
#include <charconv>
#include <cstddef>

#include "base/ascii.h"
#include "delivery/headers.h"

namespace hk::delivery {
namespace {

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_field(std::string& out, std::string_view name, std::uint64_t value) {
  std::array<char, 20> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  append_field(out, name, std::string_view(digits.data(), end));
}

void append_hex(std::string& out, const std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back("0123456789abcdef"[bytes[i] >> 4U]);
    out.push_back("0123456789abcdef"[bytes[i] & 0xfU]);
  }
}

/// Fields of ours that a publisher's own replace.
struct Forwarded {
  bool user_agent = false;
  bool accept_encoding = false;
  bool idempotency_key = false;
};

Result<Forwarded> append_forwarded(std::string& out, const core::Message& message) {
  Forwarded seen;
  ForwardedHeaders checked;
  for (const core::Header& header : message.headers) {
    if (auto safe = checked.add(header.name, header.value); !safe) {
      return std::unexpected(std::move(safe).error());
    }
    // The trace context goes out with the attempt's own span, below.
    if (equals_ignoring_case(header.name, "traceparent") ||
        equals_ignoring_case(header.name, "tracestate")) {
      continue;
    }
    seen.user_agent |= equals_ignoring_case(header.name, "User-Agent");
    seen.accept_encoding |= equals_ignoring_case(header.name, "Accept-Encoding");
    seen.idempotency_key |= equals_ignoring_case(header.name, "Idempotency-Key");
    append_field(out, header.name, header.value);
  }
  return seen;
}

void append_trace(std::string& out, const core::StartAttempt& start) {
  const core::Trace& trace = start.message->trace;
  if (trace.trace_id == std::array<std::uint8_t, 16>{} ||
      start.span_id == std::array<std::uint8_t, 8>{}) {
    return;
  }
  out.append("traceparent: 00-");
  append_hex(out, trace.trace_id.data(), trace.trace_id.size());
  out.push_back('-');
  append_hex(out, start.span_id.data(), start.span_id.size());
  out.push_back('-');
  append_hex(out, &trace.flags, 1);
  out.append("\r\n");
  if (!trace.state.empty() && safe_value(trace.state)) {
    append_field(out, "tracestate", trace.state);
  }
}

void append_labels(std::string& out, const core::Message& message) {
  std::string joined;
  for (const std::string& label : message.labels) {
    if (safe_value(
            label)) {  // a label may be any text; one that cannot be a field value stays here
      joined.append(joined.empty() ? "" : ",").append(label);
    }
  }
  if (!joined.empty()) {
    append_field(out, "Upstash-Label", joined);
  }
}

/// Which message and which attempt this is, and our signature under it.
void append_identity(std::string& out, const core::StartAttempt& start, const Secret& key,
                     std::int64_t issued_at, Signer& signer, bool has_idempotency_key) {
  const core::Message& message = *start.message;
  const std::string id = core::to_text(start.id);
  append_field(out, "Upstash-Message-Id", id);
  append_field(out, "Upstash-Retried", start.retried);
  out.append("Upstash-Signature: ");
  signer.append_token(out, key, {message.url, message.body, issued_at, start.fence});
  out.append("\r\n");
  if (!message.caller_ip.empty() && safe_value(message.caller_ip)) {
    append_field(out, "Upstash-Caller-Ip", message.caller_ip);
  }
  if (!message.schedule.empty() && safe_value(message.schedule)) {
    append_field(out, "Upstash-Schedule-Id", message.schedule);
  }
  append_labels(out, message);
  if (!message.topic.empty() && safe_value(message.topic)) {
    append_field(out, "Upstash-Topic-Name", message.topic);
  }
  append_field(out, "Hikyaku-Message-Id", id);
  append_field(out, "Hikyaku-Attempt", start.fence.attempt);
  append_field(out, "Hikyaku-Fence", fence_text(start.fence));
  if (!has_idempotency_key) {
    append_field(out, "Idempotency-Key", id);
  }
}

}  // namespace

Result<void> append_request_head(std::string& out, const core::StartAttempt& start,
                                 const net::Url& url, const Secret& key, std::int64_t issued_at,
                                 Signer& signer, const RequestOptions& options) {
  const core::Message& message = *start.message;
  if (auto safe = safe_method(message.method); !safe) {
    return safe;
  }
  if (!safe_target(url.target)) {
    return fail(ErrorKind::invalid_argument, "the request target holds bytes that may not be sent");
  }
  const std::size_t begin = out.size();
  out.append(message.method).append(" ").append(url.target).append(" HTTP/1.1\r\n");
  append_field(out, "Host", url.host_header());
  const auto forwarded = append_forwarded(out, message);
  if (!forwarded) {
    out.resize(begin);
    return std::unexpected(forwarded.error());
  }
  if (!forwarded->user_agent) {
    append_field(out, "User-Agent", options.user_agent);
  }
  if (!forwarded->accept_encoding) {
    append_field(out, "Accept-Encoding", "identity");
  }
  if (options.identity) {
    append_identity(out, start, key, issued_at, signer, forwarded->idempotency_key);
  }
  append_trace(out, start);
  if (!message.body.empty() || message.method == "POST" || message.method == "PUT" ||
      message.method == "PATCH") {
    append_field(out, "Content-Length", message.body.size());
  }
  out.append("\r\n");
  return {};
}

}  // namespace hk::delivery
