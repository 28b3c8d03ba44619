/// What a relay does now and then beside sending: counts rows for the gauges, deletes finished
/// ones. That it fails is told, and it is tried again in its time; rows are sent all the same. The
/// relay's thread.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.h"
#include "outbox/relay_log.h"
#include "outbox/relay_metrics.h"
#include "outbox/rows_at_once.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::outbox {

class Housekeeping {
 public:
  using Clock = std::chrono::steady_clock;

  /// They outlive it.
  Housekeeping(const Settings& settings, RelayMetrics& metrics, RelayLog& log)
      : settings_(settings), metrics_(metrics), log_(log) {}

  /// Does what is due. An error: the connection is lost. `stopping`: nothing is deleted any more.
  DatabaseResult<void> run(Store& store, Clock::time_point now, bool stopping);
  [[nodiscard]] Clock::time_point next(bool stopping) const;

  [[nodiscard]] std::size_t rows() const { return rows_.now(); }  ///< deleted at once, at most

 private:
  static constexpr std::size_t rows_max = 5'000;

  DatabaseResult<void> count(Store& store, Clock::time_point now);
  DatabaseResult<void> clean(Store& store, Clock::time_point now);
  DatabaseResult<void> failed(const Store& store, Chore chore, const DatabaseError& error);

  const Settings& settings_;
  RelayMetrics& metrics_;
  RelayLog& log_;
  RowsAtOnce rows_{rows_max};
  Clock::time_point next_counts_{};
  Clock::time_point next_clean_{};
};

}  // namespace hk::outbox
