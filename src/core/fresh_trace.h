/// The trace of a message that belongs to nobody else's. Pure; the core and adapters.
#pragma once

#include "base/random.h"
#include "core/message.h"

namespace hk::core {

Trace fresh_trace(Rng& rng);

}  // namespace hk::core
