#include "delivery/request_head.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "base/ascii.h"
#include "delivery/envelope/envelope.h"
#include "delivery/envelope/fields.h"
#include "delivery/headers.h"

namespace hk::delivery {
namespace {

void append_hex(std::string& out, const std::uint8_t* bytes, std::size_t count) {
  const std::size_t begin = out.size();
  out.resize(begin + 2 * count);
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < count; ++i) {
    *to++ = "0123456789abcdef"[bytes[i] >> 4U];
    *to++ = "0123456789abcdef"[bytes[i] & 0xfU];
  }
}

/// Fields of ours that a publisher's own replace.
struct Forwarded {
  bool user_agent = false;
  bool accept_encoding = false;
  bool idempotency_key = false;
};

Result<Forwarded> append_forwarded(std::string& out, const Request& request) {
  Forwarded seen;
  ForwardedHeaders checked = request.envelope->bounds();
  for (const core::Header& header : request.envelope->forwarded(request)) {
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

void append_trace(std::string& out, const Request& request) {
  const core::Trace& trace = request.message->trace;
  if (trace.trace_id == std::array<std::uint8_t, 16>{} ||
      request.span_id == std::array<std::uint8_t, 8>{}) {
    return;
  }
  out.append("traceparent: 00-");
  append_hex(out, trace.trace_id.data(), trace.trace_id.size());
  out.push_back('-');
  append_hex(out, request.span_id.data(), request.span_id.size());
  out.push_back('-');
  append_hex(out, &trace.flags, 1);
  out.append("\r\n");
  append_field_if_safe(out, "tracestate", trace.state);
}

}  // namespace

Result<void> append_request_head(std::string& out, const Request& request, const net::Url& url,
                                 std::chrono::sys_seconds now) {
  const core::Message& message = *request.message;
  const std::string_view method = request.method();
  if (auto safe = safe_method(method); !safe) {
    return safe;
  }
  if (!safe_target(url.target)) {
    return fail(ErrorKind::invalid_argument, "the request target holds bytes that may not be sent");
  }
  const std::size_t begin = out.size();
  out.append(method).append(" ").append(url.target).append(" HTTP/1.1\r\n");
  append_field(out, "Host", url.host_header());
  const auto forwarded = append_forwarded(out, request);
  if (!forwarded) {
    out.resize(begin);
    return std::unexpected(forwarded.error());
  }
  if (!forwarded->user_agent) {
    append_field(out, "User-Agent", request.envelope->user_agent());
  }
  if (!forwarded->accept_encoding) {
    append_field(out, "Accept-Encoding", "identity");
  }
  if (auto done = request.envelope->append_fields(out, {request, now, forwarded->idempotency_key});
      !done) {
    out.resize(begin);
    return done;
  }
  append_trace(out, request);
  if (!message.body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    append_field(out, "Content-Length", message.body.size());
  }
  out.append("\r\n");
  return {};
}

}  // namespace hk::delivery
