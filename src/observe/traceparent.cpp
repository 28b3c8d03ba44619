#include <algorithm>

#include "observe/trace.h"

namespace hk::observe {
namespace {

/// Lower case only, as the recommendation demands. REQUIRES: text.size() == out.size() * 2.
template <std::size_t Size>
bool read_hex(std::string_view text, std::array<std::uint8_t, Size>& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned digit = 0;
    if (text[i] >= '0' && text[i] <= '9') {
      digit = static_cast<unsigned>(text[i] - '0');
    } else if (text[i] >= 'a' && text[i] <= 'f') {
      digit = static_cast<unsigned>(text[i] - 'a') + 10;
    } else {
      return false;
    }
    out[i / 2] = static_cast<std::uint8_t>((unsigned{out[i / 2]} << 4U) | digit);
  }
  return true;
}

template <std::size_t Size>
bool all_zero(const std::array<std::uint8_t, Size>& id) {
  return std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view text) {
  constexpr std::size_t size = 2 + 1 + 32 + 1 + 16 + 1 + 2;
  if (text.size() != size || !text.starts_with("00-") || text[35] != '-' || text[52] != '-') {
    return std::nullopt;
  }
  TraceParent parent;
  std::array<std::uint8_t, 1> flags{};
  if (!read_hex(text.substr(3, 32), parent.trace_id) ||
      !read_hex(text.substr(36, 16), parent.span_id) || !read_hex(text.substr(53, 2), flags) ||
      all_zero(parent.trace_id) || all_zero(parent.span_id)) {
    return std::nullopt;
  }
  parent.flags = flags[0];
  return parent;
}

std::string format_traceparent(const TraceParent& parent) {
  return "00-" + hex(parent.trace_id.data(), parent.trace_id.size()) + "-" +
         hex(parent.span_id.data(), parent.span_id.size()) + "-" + hex(&parent.flags, 1);
}

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(count * 2);
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(digits[bytes[i] >> 4U]);
    out.push_back(digits[bytes[i] & 15U]);
  }
  return out;
}

}  // namespace hk::observe
