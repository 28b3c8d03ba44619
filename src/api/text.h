/// Small readings of text that several adapters share. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "base/error.h"
#include "core/header_map.h"

namespace hk::api {

using hk::duration_max;

/// As everywhere; a number alone is seconds.
inline Result<Millis> parse_duration(std::string_view text) {
  return hk::parse_duration(text, BareNumber::seconds);
}

/// Decimal digits only; nullopt for anything else, also for what does not fit.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
/// "true" or "false" in any case.
std::optional<bool> parse_bool(std::string_view text);

/// [A-Za-z0-9._-]+: queues, URL groups, schedules.
bool valid_name(std::string_view text);
/// A name to make a queue with: as above, and not longer than this. Longer ones that exist stay
/// usable.
inline constexpr std::size_t queue_name_bytes_max = 256;
bool valid_new_queue_name(std::string_view text);

/// 1 to 255 visible ASCII characters: an idempotency key.
bool is_key_text(std::string_view text);

/// Parts between commas, trimmed; empty ones are left out.
std::vector<std::string> split_commas(std::string_view text);

using core::canonical_header_name;

}  // namespace hk::api
