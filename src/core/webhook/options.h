/// How an endpoint is delivered to: what it sets itself, over the tenant's defaults, over those of
/// the server. Pure, any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/webhook/record.h"

namespace hk::core::webhook {

/// Waits before each attempt of the schedule with that name; null: there is none.
const std::vector<Millis>* preset_delays(std::string_view preset);
/// The names that there are, in the order in which they are shown.
std::vector<std::string_view> preset_names();

/// The parts of `from` whose bits are set.
void take_parts(Delivery& to, const Delivery& from, std::uint32_t parts);

/// What applies to it now, with `delays` filled in.
Delivery effective(const Endpoint& endpoint, const Settings& settings);
/// … to an endpoint that sets nothing.
Delivery effective(const Settings& settings);

/// Sets the parts in `change`; those in `inherit` are not its own any more. A part that is in both
/// is set.
void merge(OwnDelivery& own, const OwnDelivery& change, std::uint32_t inherit);

constexpr std::uint32_t bit_of(DeliveryPart part) { return 1U << static_cast<std::uint32_t>(part); }

}  // namespace hk::core::webhook
