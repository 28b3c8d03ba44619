/// Spans and where they go. W3C trace context comes in with a publish, goes out with each delivery
/// attempt, and each attempt is a span. Export is OTLP over HTTP (JSON) when an endpoint is set; a
/// collector that is slow or away costs nothing but the spans.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::observe {

struct TraceParent {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  std::uint8_t flags = 0;
};

/// "00-<32 hex>-<16 hex>-<2 hex>"; nullopt for anything else, all-zero ids included.
std::optional<TraceParent> parse_traceparent(std::string_view text);
std::string format_traceparent(const TraceParent& parent);
std::string hex(const std::uint8_t* bytes, std::size_t count);

/// The numbers are those of OTLP.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3 };

struct Span {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  std::array<std::uint8_t, 8> parent_span_id{};
  std::string name{};
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  bool error = false;
  std::string error_text{};
  std::vector<std::pair<std::string, std::string>> attributes{};
  SpanKind kind = SpanKind::client;
};

class SpanExporter {
 public:
  SpanExporter() = default;
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;
  virtual ~SpanExporter() = default;   ///< sends what is left, within two seconds
  virtual void record(Span span) = 0;  ///< never blocks; drops (and counts) when its buffer is full
  /// Spans that will not arrive: no room, or the collector did not take them.
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
};

/// endpoint: "http://host:4318" (…/v1/traces is appended unless a path is given) or https://,
/// verified against the roots of the system. invalid_argument: not such an address. Nothing is sent
/// yet.
Result<std::unique_ptr<SpanExporter>> make_otlp_exporter(const std::string& endpoint);
std::unique_ptr<SpanExporter> make_null_exporter();

}  // namespace hk::observe
