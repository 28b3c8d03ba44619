/// Time as it is stored: milliseconds since the Unix epoch, on the partition's clock. Where "now"
/// comes from is decided outside: nothing below reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace hk {

using Millis = std::chrono::milliseconds;
using Moment = std::chrono::sys_time<Millis>;

constexpr Moment moment_from_ms(std::int64_t ms) { return Moment{Millis{ms}}; }
constexpr std::int64_t to_ms(Moment moment) { return moment.time_since_epoch().count(); }

/// "Never": later than any time that can be stored.
constexpr Moment never = Moment{Millis{std::int64_t{1} << 53}};

}  // namespace hk
