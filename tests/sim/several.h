/// Several partitions in one process: each is a simulation with a store, clients, faults and a
/// model of its own, and they take turns, event by event. What happens to one of them, its deaths
/// included, changes nothing in another: each must write exactly what it writes when it runs alone.
#pragma once

#include <cstdint>

#include "sim/simulation.h"

namespace hk::sim {

/// `options.seed` and the seeds after it, one for each partition. Throws Violation. The sum of what
/// they did together.
Outcome run_several(const Simulation::Options& options, std::uint16_t partitions);

}  // namespace hk::sim
