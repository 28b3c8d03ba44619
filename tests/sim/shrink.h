/// A seed that fails, made smaller: fewer operations, crashes, tenants, features, as long as the
/// same invariant is broken. Every run is a process of its own, so that an assertion of the core
/// ends only that run.
#pragma once

#include <string>

#include "sim/simulation.h"

namespace hk::sim {

/// Which invariant the run breaks; "" = none.
std::string broken_by(const Simulation::Options& options);

/// The options with smaller settings. REQUIRES: broken_by(options) == invariant.
Simulation::Options shrink(Simulation::Options options, const std::string& invariant);

}  // namespace hk::sim
