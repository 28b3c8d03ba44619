/// What one option says about another. Used by load().
#pragma once

#include "config/options.h"

namespace hk::config {

/// Each option is right by itself; invalid_argument when they do not fit each other.
Result<void> check_together(const Options& options);

}  // namespace hk::config
