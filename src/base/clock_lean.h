/// How far partition time (engine/clock.h) may run ahead of other clocks while it follows a wall
/// clock that was set forward. Pure.
#pragma once

#include "base/time.h"

namespace hk {

/// It leans by at most one part in so many of what passes.
inline constexpr int clock_lean = 10;

/// A time on the partition's clock that is not over before `timeout` is on the sender's. A lease
/// that ended earlier would send its message a second time beside the first.
constexpr Millis outlasting(Millis timeout) { return timeout + timeout / clock_lean; }

}  // namespace hk
