/// Where the core's next batch ends in the inbox. Pure; called by the engine's core thread.
#pragma once

#include <cstddef>
#include <span>

#include "engine/submitter.h"

namespace hk::engine {

/// What a command counts for against the inbox's bytes. Outcomes of attempts count for nothing: an
/// inbox full of bodies must not hold them up until their leases end.
std::size_t weight_of(const core::Command& command);

/// How many of the waiting commands the next batch takes: at least one, at most `most`, and no more
/// than carry `bytes_max` together, roughly. One that is larger by itself comes alone.
std::size_t next_batch(std::span<const Submission> inbox, std::size_t most, std::size_t bytes_max);

}  // namespace hk::engine
