/// How the descriptors that the process may have are shared out. Clients must not be able to take
/// those that the store needs: a store that cannot open a file stops the server. Called once,
/// before anything is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "config/options.h"

namespace hk::cli {

/// What a server needs at least.
inline constexpr std::uint64_t descriptors_min = 1024;

/// Lowers `connections_max` and `global_parallelism` to what `limit` descriptors allow; a warning
/// if that leaves much less than they say, an error if they are too few.
Result<std::optional<std::string>> share_descriptors(std::uint64_t limit, config::Options& options);

}  // namespace hk::cli
