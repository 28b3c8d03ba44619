/// How large a command is. Pure; called by the engine's inbox.
#pragma once

#include <cstddef>

#include "core/command.h"

namespace hk::engine {

struct Weight {
  /// What it counts for against the inbox's bytes. Outcomes of attempts count for nothing: an inbox
  /// full of bodies must not hold them up until their leases end.
  std::size_t carried = 0;
  /// All that the core writes for it, roughly.
  std::size_t written = 0;
};

Weight weight_of(const core::Command& command);

}  // namespace hk::engine
