/// How many messages of a queue are not due yet: exact, and without knowing each of them. A count
/// for every millisecond in which some become due takes 8 bytes; with delays of 15 minutes at most
/// that is 7 MB for a queue however many wait in it. Longer delays end on a whole second, which
/// takes some 20 bytes for each second in which one of them ends. What falls into one second is
/// stored as one record. In memory; part of DelayedCounts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "core/pull/record.h"

namespace hk::core {

class Delayed {
 public:
  static constexpr Millis exact_up_to{900'000};  ///< delays beyond it end on a whole second

  /// Its begin.
  static Moment second_of(Moment due) { return std::chrono::floor<std::chrono::seconds>(due); }
  /// A due time as it is counted.
  static Moment rounded(Moment due, Moment now) {
    return due > now + exact_up_to ? Moment{std::chrono::ceil<std::chrono::seconds>(due)} : due;
  }

  void add(Moment due, std::uint32_t count = 1);
  /// False: nothing was counted there.
  bool remove(Moment due);
  /// What has become due is not delayed any more. The seconds that nothing is left of.
  std::vector<Moment> forget(Moment now);
  [[nodiscard]] std::uint64_t count(Moment now) const;
  [[nodiscard]] bool empty() const { return spans_.empty(); }

  /// A second as it is stored; empty: nothing is left of it.
  [[nodiscard]] std::vector<DelayedSecond::Slot> in_second(Moment second) const;

 private:
  struct Slot {
    std::uint16_t ms = 0;  ///< from the start of the span
    std::uint32_t count = 0;
  };
  using Slots = std::vector<Slot>;  ///< in order, none of them 0

  std::map<std::int64_t, Slots> spans_;  ///< none of them empty
  std::uint64_t total_ = 0;
};

}  // namespace hk::core
