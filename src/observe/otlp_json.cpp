#include "observe/otlp_json.h"

#include <algorithm>

#include "observe/json_text.h"

namespace hk::observe {
namespace {

/// 64-bit numbers are texts in the JSON form of Protocol Buffers.
void append_nanoseconds(std::string& out, std::int64_t milliseconds) {
  out += '"';
  out += std::to_string(std::max<std::int64_t>(milliseconds, 0));
  out += "000000\"";
}

void append_attribute(std::string& out, std::string_view key, std::string_view value) {
  out += R"({"key":)";
  append_json_text(out, key);
  out += R"(,"value":{"stringValue":)";
  append_json_text(out, value);
  out += "}}";
}

void append_span(std::string& out, const Span& span) {
  out += R"({"traceId":")" + hex(span.trace_id.data(), span.trace_id.size());
  out += R"(","spanId":")" + hex(span.span_id.data(), span.span_id.size());
  const bool has_parent = std::any_of(span.parent_span_id.begin(), span.parent_span_id.end(),
                                      [](std::uint8_t byte) { return byte != 0; });
  if (has_parent) {
    out += R"(","parentSpanId":")" + hex(span.parent_span_id.data(), span.parent_span_id.size());
  }
  out += R"(","name":)";
  append_json_text(out, span.name);
  out += R"(,"kind":)" + std::to_string(static_cast<int>(span.kind));
  out += R"(,"startTimeUnixNano":)";
  append_nanoseconds(out, span.start_ms);
  out += R"(,"endTimeUnixNano":)";
  append_nanoseconds(out, std::max(span.start_ms, span.end_ms));
  out += R"(,"attributes":[)";
  for (std::size_t i = 0; i < span.attributes.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_attribute(out, span.attributes[i].first, span.attributes[i].second);
  }
  out += "]";
  if (span.error) {
    out += R"(,"status":{"code":2,"message":)";
    append_json_text(out, span.error_text);
    out += "}";
  }
  out += "}";
}

}  // namespace

std::string otlp_json(std::span<const Span> spans) {
  std::string out;
  constexpr std::size_t usual_span_bytes = 600;
  out.reserve(256 + spans.size() * usual_span_bytes);
  out += R"({"resourceSpans":[{"resource":{"attributes":[)";
  append_attribute(out, "service.name", "hikyaku");
  out += R"(]},"scopeSpans":[{"scope":{"name":"hikyaku"},"spans":[)";
  for (std::size_t i = 0; i < spans.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_span(out, spans[i]);
  }
  out += "]}]}]}";
  return out;
}

}  // namespace hk::observe
