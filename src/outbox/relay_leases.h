/// The leases of a relay: keeps those of the rows that it holds by heartbeats, says until when each
/// of these rows may be begun, and takes over rows that others let run out. The relay's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "outbox/database.h"
#include "outbox/relay_log.h"
#include "outbox/relay_metrics.h"
#include "outbox/sending.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::outbox {

class RelayLeases {
 public:
  using Clock = std::chrono::steady_clock;

  /// All of them outlive it.
  RelayLeases(const Settings& settings, RelayMetrics& metrics, RelayLog& log)
      : settings_(settings), metrics_(metrics), log_(log) {}

  /// Of a row that was claimed by a statement sent after `asked`.
  [[nodiscard]] std::shared_ptr<Lease> claimed(Clock::time_point asked) const {
    return std::make_shared<Lease>(asked, settings_.lock_lease);
  }

  /// Every half lease, and first of all after ask_at_once(): makes the leases of `rows` new, or
  /// says which are lost. False when it was not yet time. `now`: not later than it is.
  DatabaseResult<bool> keep(Store& store, const SendingRows& rows, Clock::time_point now);

  /// What was known of the leases may be wrong: the database was away, or has been another one.
  void ask_at_once() { next_heartbeat_ = Clock::time_point{}; }

  /// Now and then. Gives how many rows are due again by it.
  DatabaseResult<std::size_t> take_over(Store& store, Clock::time_point now);

  [[nodiscard]] Clock::time_point next_heartbeat() const { return next_heartbeat_; }
  [[nodiscard]] Clock::time_point next_take_over() const { return next_take_over_; }

 private:
  const Settings& settings_;
  RelayMetrics& metrics_;
  RelayLog& log_;
  Clock::time_point next_heartbeat_{};
  Clock::time_point next_take_over_{};
};

}  // namespace hk::outbox
