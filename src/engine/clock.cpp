#include "engine/clock.h"

#include <ctime>

#include <algorithm>

#include "base/clock_lean.h"

namespace hk::engine {

ClockReadings read_system_clocks() {
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const auto millis = [](const timespec& t) {
    return Millis{static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000};
  };
  return {millis(boot), Moment{millis(wall)}};
}

SlewedClock::SlewedClock(Source source) : source_(source), last_(source()), time_(last_.wall) {}

void SlewedClock::start_at_least(Moment moment) {
  const std::lock_guard lock(mutex_);
  time_ = std::max(time_, moment);
}

Moment SlewedClock::now() {
  const ClockReadings readings = source_();
  const std::lock_guard lock(mutex_);
  const Millis elapsed = std::max(readings.boot - last_.boot, Millis{0});
  if (elapsed.count() == 0) {
    return time_;
  }
  // Whoever asks often sees small steps: rounded down each by itself they would never lean, rounded
  // up they would lean by half of what passed.
  const Millis leaning = rest_ + elapsed;
  const Millis lean_max = leaning / clock_lean;
  rest_ = leaning % clock_lean;
  const Millis behind = readings.wall - (time_ + elapsed);
  time_ += std::max(elapsed + std::clamp(behind, -lean_max, lean_max), Millis{0});
  last_ = readings;
  return time_;
}

}  // namespace hk::engine
