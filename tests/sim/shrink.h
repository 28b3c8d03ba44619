/// A seed that fails, made smaller: fewer operations, crashes, tenants, features, other luck, as
/// long as the same invariant is broken. Every run is a process of its own, so that an assertion of
/// the core ends only that run.
#pragma once

#include <optional>
#include <string>

#include "sim/simulation.h"

namespace hk::sim {

struct Broken {
  std::string invariant{};
  std::uint64_t decisions = 0;  ///< until then: Simulation::decisions()
};

/// nullopt: the run breaks nothing.
std::optional<Broken> broken_by(const Simulation::Options& options);

/// What fails with fewer decisions, or with as many and smaller settings; found within a minute of
/// the processor. `broken` is what the options break, and becomes what the smaller ones do.
Simulation::Options shrink(Simulation::Options options, Broken& broken);

}  // namespace hk::sim
