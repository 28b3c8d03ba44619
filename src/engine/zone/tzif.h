/// Reads the bytes of a time-zone file (TZif, RFC 9636), the format in which every Unix keeps the
/// zones of IANA. Pure; called by load_zone. Any thread.
#pragma once

#include <string_view>

#include "base/error.h"
#include "core/schedule/zone.h"

namespace hk::engine {

/// The largest zone of IANA has less than 4 KiB.
inline constexpr std::size_t tzif_bytes_max = 64U << 10U;

/// Whether the bytes claim to be a time-zone file at all.
bool is_tzif(std::string_view bytes);

/// Files of version 2 and later. corruption: says what does not fit. Files that count leap seconds
/// ("right/…") are refused as invalid_argument, because their instants are not Unix time.
Result<core::Zone> parse_tzif(std::string_view bytes);

}  // namespace hk::engine
