/// How many threads serve HTTP. The core and the sync thread need a core each under load: on a
/// small machine more I/O threads would only take turns with them. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hk::cli {

/// `asked`: the setting; 0 = by the machine. `cores`: 0 = not known.
constexpr std::uint64_t edge_threads(std::uint64_t asked, unsigned cores) {
  return asked != 0 ? asked : std::clamp<std::uint64_t>(cores / 2, 1, 4);
}

}  // namespace hk::cli
