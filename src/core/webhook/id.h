/// How applications, endpoints, events, integrations and attempts are known outside: texts that are
/// made of what is stored, so that no index leads from one to its record. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/webhook/record.h"

namespace hk::core::webhook {

inline constexpr std::string_view application_prefix = "app_";
inline constexpr std::string_view endpoint_prefix = "ep_";
inline constexpr std::string_view event_prefix = "msg_";
inline constexpr std::string_view integration_prefix = "integ_";
inline constexpr std::string_view attempt_prefix = "atmpt_";

std::string id_of(const Application& application);
std::string id_of(const Endpoint& endpoint);
/// What its receivers know it by, in every delivery of it.
std::string id_of(const Event& event);
std::string id_of(const Integration& integration);

/// The number that an id claims, of whatever has it or had it: a place in a list. nullopt: it is no
/// id of that prefix. Whether it is right in all its bits, its record says.
std::optional<Number> number_in(std::string_view id, std::string_view prefix);

/// The first number of what was made at that time or later: numbers begin with the time at which
/// they are given out (Progress::next_number()).
Number first_number_at(Moment at);

/// A place in an endpoint's list of attempts.
struct AttemptPlace {
  Moment ended_at{};
  Seq delivery{};
  std::uint32_t attempt = 0;
  friend bool operator==(const AttemptPlace&, const AttemptPlace&) = default;
};
std::string id_of(const AttemptPlace& place);
std::string id_of(const AttemptRow& row);
/// Exact to the millisecond for times since 2014. nullopt: it is no id of an attempt.
std::optional<AttemptPlace> parse_attempt_id(std::string_view id);

/// May it be the uid of something whose ids have that prefix, or an eventId? 1 to 256 letters,
/// digits and "-_."; it does not begin as an id does.
bool may_be_uid(std::string_view text, std::string_view prefix);

}  // namespace hk::core::webhook
