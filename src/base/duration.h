/// The one way to write a length of time, in headers, settings and commands. Pure, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace hk {

/// Longer ones are refused: they are mistakes, and stored times must stay in their range.
inline constexpr Millis duration_max{std::int64_t{100} * 365 * 86'400'000};

/// What a number without a unit means: that is up to where it stands.
enum class BareNumber : std::uint8_t { seconds, refused };

/// One or more of <number><unit> with the units ms, s, m, h, d, added up: "500ms", "10s", "1.5h",
/// "1d10h30m". To the millisecond. "0" alone is 0 everywhere. invalid_argument: anything else, or
/// longer than duration_max; the text says what would be right.
Result<Millis> parse_duration(std::string_view text, BareNumber bare);

}  // namespace hk
