/// Names of lanes and gates that belong to webhooks. No client can give one that begins so, and no
/// list of queues or flow keys shows one. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/lane/record.h"
#include "core/webhook/record.h"

namespace hk::core::webhook {

inline constexpr char gate_mark = '\x01';
inline bool is_ours(std::string_view name) { return name.starts_with(gate_mark); }
inline bool is_ours(const LaneKey& lane) { return is_ours(lane.flow_key) || is_ours(lane.queue); }

/// Its mark, a letter that says of what it is, and numbers in hexadecimal of one length.
enum class GateOf : char {
  endpoint = 'e',  ///< the endpoint: pause, rate, parallelism
  replay = 'r',    ///< what a replay made: a lane of its own, so that it does not hold up the rest
  manual = 'm',    ///< attempts by hand: past the circuit and past order
  circuit = 'c',   ///< the endpoint's circuit
  application = 'a',  ///< the application: rate
};
/// `endpoint` is 0 for that of an application.
std::string gate_name(GateOf of, Number application, Number endpoint = 0);
/// Of the lane, by its queue or its flow key.
std::string_view gate_of(const LaneKey& lane);

struct GateName {
  GateOf of{};
  Number application = 0;
  Number endpoint = 0;
  friend bool operator==(const GateName&, const GateName&) = default;
};
/// nullopt: it is none of ours.
std::optional<GateName> read_gate_name(std::string_view name);

/// In which group of its endpoint's queue a delivery keeps its place; "": it is in no order.
std::string order_group(Order order, const std::vector<std::string>& channels,
                        const std::vector<std::string>& tags);

}  // namespace hk::core::webhook
