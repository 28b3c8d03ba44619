/// Generated ids: a prefix and 27 characters that are ordered by time and hold a sequence number,
/// so that what they name is found without an index. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/amount.h"

namespace hk::core::ledger {

/// 20 bytes in base 62: 4 of seconds since 1 400 000 000, 1 of 1/256 s, 8 of the number, 7 random.
std::string make_id(std::string_view prefix, Instant at, std::uint64_t number,
                    std::uint64_t random);
/// Its number; nullopt: it is not of that form.
std::optional<std::uint64_t> number_in(std::string_view id, std::string_view prefix);

}  // namespace hk::core::ledger
