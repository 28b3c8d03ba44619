/// Ids that are made, not chosen: a prefix and 27 characters that are in the order of time. They
/// hold a number, so that what has one may be found without an index. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/date.h"

namespace hk {

/// 20 bytes in base 62: 4 of seconds since 1 400 000 000, 1 of 1/256 s, 8 of the number, 7 random.
/// An earlier moment counts as that one.
std::string sortable_id(std::string_view prefix, NanoMoment at, std::uint64_t number,
                        std::uint64_t random);
/// Its number; nullopt: it is not of that form.
std::optional<std::uint64_t> number_in_id(std::string_view id, std::string_view prefix);

/// All that such an id holds but for the parts of its second.
struct SortableId {
  std::int64_t second = 0;  ///< since 1970
  std::uint64_t number = 0;
  std::uint64_t random = 0;  ///< 56 bits
};
/// nullopt: it is not of that form.
std::optional<SortableId> parse_sortable_id(std::string_view id, std::string_view prefix);

}  // namespace hk
