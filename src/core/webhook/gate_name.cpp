#include "core/webhook/gate_name.h"

#include <charconv>

namespace hk::core::webhook {

namespace {

constexpr std::size_t number_digits = 16;

void append_hex(std::string& out, Number number) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (unsigned shift = 4 * number_digits; shift > 0; shift -= 4) {
    out += digits[number >> (shift - 4) & 15U];
  }
}

std::optional<Number> read_hex(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string gate_name(GateOf of, Number application, Number endpoint) {
  std::string name;
  name.reserve(2 + 2 * number_digits);
  name += gate_mark;
  name += static_cast<char>(of);
  append_hex(name, application);
  append_hex(name, endpoint);
  return name;
}

std::string_view gate_of(const LaneKey& lane) {
  return lane.queue.empty() ? std::string_view(lane.flow_key) : std::string_view(lane.queue);
}

std::optional<GateName> read_gate_name(std::string_view name) {
  if (!is_ours(name) || name.size() != 2 + 2 * number_digits) {
    return std::nullopt;
  }
  const auto application = read_hex(name.substr(2, number_digits));
  const auto endpoint = read_hex(name.substr(2 + number_digits));
  if (!application || !endpoint) {
    return std::nullopt;
  }
  const auto of = static_cast<GateOf>(name[1]);
  switch (of) {
    case GateOf::endpoint:
    case GateOf::replay:
    case GateOf::manual:
    case GateOf::circuit:
    case GateOf::application: return GateName{of, *application, *endpoint};
  }
  return std::nullopt;
}

std::string order_group(Order order, const std::vector<std::string>& channels,
                        const std::vector<std::string>& tags) {
  switch (order) {
    case Order::none: break;
    case Order::endpoint: return std::string(1, gate_mark);
    case Order::channel: return channels.empty() ? std::string{} : channels.front();
    case Order::tag: return tags.empty() ? std::string{} : tags.front();
  }
  return {};
}

}  // namespace hk::core::webhook
