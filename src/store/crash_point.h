/// Named places at which a test can end the process the way kill -9 does, so that a crash is tried
/// at each of them and not only where chance puts it. crash_points.def lists them. Off, as it is
/// outside of tests, a point costs one load of a null pointer. Any thread; arm_crash() before the
/// threads start.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace hk::store {

enum class CrashPoint : std::uint8_t {
#define HK_CRASH_POINT(name, when, meaning) name,
#include "store/crash_points.def"
#undef HK_CRASH_POINT
};

/// "POINT:N": the process ends when it passes that point for the N-th time. invalid_argument: no
/// such point, or N is not a number from 1 on; nothing is armed then.
Result<void> arm_crash(std::string_view text);

namespace detail {
struct ArmedCrash {
  CrashPoint point{};
  std::atomic<std::uint64_t> left{0};
};
extern ArmedCrash* armed_crash;
void pass(CrashPoint point);
}  // namespace detail

inline void crash_point(CrashPoint point) {
  if (detail::armed_crash != nullptr) [[unlikely]] {
    detail::pass(point);
  }
}

}  // namespace hk::store
