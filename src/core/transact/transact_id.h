/// What a transact that was done is known by: "tx_" and 27 characters that are in order of time.
#pragma once

#include <string>

#include "base/random.h"
#include "base/time.h"

namespace hk::core {

std::string transact_id(Moment now, Rng& rng);

}  // namespace hk::core
