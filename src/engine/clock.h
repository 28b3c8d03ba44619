/// Partition time: follows the boot-time clock (so that a suspend counts) and leans towards the
/// wall clock by at most a tenth of the elapsed time, so that a wall clock that jumps neither
/// shortens a dedup window nor fires a timer early. It never runs backwards. Thread-safe.
#pragma once

#include <mutex>

#include "base/time.h"

namespace hk::engine {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual Moment now() = 0;
  /// Not earlier than what was stored before the restart. One that stands still may ignore it.
  virtual void start_at_least(Moment /*moment*/) {}
};

/// What the operating system says; separate so that the rule above can be tested.
struct ClockReadings {
  Millis boot{};
  Moment wall{};
};
ClockReadings read_system_clocks();

class SlewedClock final : public Clock {
 public:
  using Source = ClockReadings (*)();
  explicit SlewedClock(Source source = read_system_clocks);
  Moment now() override;
  void start_at_least(Moment moment) override;

 private:
  const Source source_;
  std::mutex mutex_;
  ClockReadings last_;
  Millis rest_{0};  ///< of what passed: too little so far for a millisecond of lean
  Moment time_;
};

}  // namespace hk::engine
