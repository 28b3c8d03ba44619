/// What a relay knows of the lease of one claimed row: whether the row may still be begun. The
/// relay's thread writes it as claims and heartbeats are answered, the sender's reads it at the
/// moment when a place is free for the row. Two owners: the relay, and the row while it waits.
///
/// By the steady clock of this process, from before the statement was sent that made the lease new:
/// it can only end earlier than the lease in the table.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace hk::outbox {

class Lease {
 public:
  using Clock = std::chrono::steady_clock;

  enum class State : std::uint8_t {
    ours,      ///< nobody else can have the row
    in_doubt,  ///< it may have run out: only a heartbeat can say whose the row is
    lost,      ///< the row is not ours, or no longer kept
  };

  /// `asked`: before the claim was sent. `length` as in the table.
  Lease(Clock::time_point asked, Millis length) { renew(asked, length); }

  /// `asked`: before the heartbeat was sent. A tenth is left for the way from here to the wire, and
  /// for clocks that do not run alike.
  void renew(Clock::time_point asked, Millis length) { set(asked + (length - length / 10)); }
  void lose() { set(Clock::time_point::min()); }

  [[nodiscard]] State at(Clock::time_point now) const {
    const Clock::time_point until{Clock::duration{until_.load(std::memory_order_relaxed)}};
    return until == Clock::time_point::min() ? State::lost
           : now < until                     ? State::ours
                                             : State::in_doubt;
  }

 private:
  void set(Clock::time_point until) {
    until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }

  std::atomic<Clock::rep> until_{0};
};

}  // namespace hk::outbox
