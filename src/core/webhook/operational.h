/// What the server tells a tenant about the deliveries of webhooks: events of its hidden
/// application. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace hk::core::webhook {

namespace operational_event {

inline constexpr std::string_view endpoint_created = "endpoint.created";
inline constexpr std::string_view endpoint_updated = "endpoint.updated";
inline constexpr std::string_view endpoint_deleted = "endpoint.deleted";
inline constexpr std::string_view endpoint_enabled = "endpoint.enabled";
inline constexpr std::string_view endpoint_disabled = "endpoint.disabled";
inline constexpr std::string_view endpoint_failing = "endpoint.failing";
inline constexpr std::string_view endpoint_hold = "endpoint.hold";
inline constexpr std::string_view attempt_failing = "message.attempt.failing";
inline constexpr std::string_view attempt_exhausted = "message.attempt.exhausted";
inline constexpr std::string_view attempt_recovered = "message.attempt.recovered";
inline constexpr std::string_view task_finished = "background_task.finished";
inline constexpr std::string_view source_quarantined = "source.quarantined";

inline constexpr std::array all{endpoint_created,  endpoint_updated,  endpoint_deleted,
                                endpoint_enabled,  endpoint_disabled, endpoint_failing,
                                endpoint_hold,     attempt_failing,   attempt_exhausted,
                                attempt_recovered, task_finished,     source_quarantined};

}  // namespace operational_event

constexpr bool is_operational_event(std::string_view type) {
  return std::ranges::find(operational_event::all, type) != operational_event::all.end();
}

}  // namespace hk::core::webhook
