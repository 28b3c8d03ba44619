/// Deadlines of thousands of attempts without a timer object each: a wheel of coarse slots that is
/// turned by one timer. A deadline is noticed at most one tick late and never early. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hk::delivery {

/// Leaves its wheel when it is destroyed.
struct WheelEntry
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  std::chrono::steady_clock::time_point deadline{};
};

class DeadlineWheel {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds tick{20};

  explicit DeadlineWheel(Clock::time_point start) : start_(start) {}

  /// Sets or moves a deadline.
  void set(WheelEntry& entry, Clock::time_point deadline) {
    if (entry.is_linked()) {
      entry.unlink();
    }
    entry.deadline = deadline;
    slots_[slot_of(deadline)].push_back(entry);
  }

  /// Calls `late` for every entry whose deadline is not after `now`; each has left the wheel by
  /// then.
  template <class Late>
  void turn(Clock::time_point now, Late late) {
    const std::uint64_t last = ticks(now);
    // After a long sleep one full turn sees every slot.
    std::uint64_t from = last - turned_ > slots_.size() ? last - slots_.size() : turned_;
    for (; from <= last; ++from) {
      Slot& slot = slots_[from % slots_.size()];
      for (auto it = slot.begin(); it != slot.end();) {
        WheelEntry& entry = *it;
        if (entry.deadline > now) {  // of a later turn, or of later in this tick
          ++it;
          continue;
        }
        it = slot.erase(it);
        late_.push_back(entry);
      }
    }
    turned_ = last;
    while (!late_.empty()) {  // `late` may end other entries: they leave this list by themselves
      WheelEntry& entry = late_.front();
      late_.pop_front();
      late(entry);
    }
  }

 private:
  using Slot = boost::intrusive::list<WheelEntry, boost::intrusive::constant_time_size<false>>;

  [[nodiscard]] std::uint64_t ticks(Clock::time_point at) const {
    return at <= start_ ? 0 : static_cast<std::uint64_t>((at - start_) / tick);
  }
  [[nodiscard]] std::size_t slot_of(Clock::time_point at) const {
    // Not before the slot that is looked at next, or a deadline in the past would wait for a turn.
    return std::max(ticks(at), turned_) % slots_.size();
  }

  const Clock::time_point start_;
  std::uint64_t turned_ = 0;  ///< this tick's slot has been looked at and will be again
  std::array<Slot, 1024> slots_;
  Slot late_;
};

}  // namespace hk::delivery
