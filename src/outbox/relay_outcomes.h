/// How rows ended, on the way into the table: kept in memory until it is written. The relay's
/// thread. Errors are of the database; what was being written is written again then.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "outbox/relay_log.h"
#include "outbox/relay_metrics.h"
#include "outbox/sending.h"
#include "outbox/store.h"

namespace hk::outbox {

class RelayOutcomes {
 public:
  using Clock = std::chrono::steady_clock;

  /// All of them outlive it. `sending`: a row leaves it when its outcome is written.
  RelayOutcomes(SendingRows& sending, RelayMetrics& metrics, RelayLog& log)
      : sending_(sending), metrics_(metrics), log_(log) {}

  void add(Finished row) { finished_.push_back(std::move(row)); }

  [[nodiscard]] std::size_t finished() const { return finished_.size(); }
  [[nodiscard]] std::size_t locked() const { return locked_.size(); }
  [[nodiscard]] Clock::time_point next_locked() const { return next_locked_; }
  [[nodiscard]] const std::vector<Finished>& locked_rows() const { return locked_; }
  void try_locked_now() { next_locked_ = Clock::time_point{}; }

  /// The first of them go out, and their answer comes in: PostgreSQL writes in between.
  DatabaseResult<void> begin(Store& store);
  DatabaseResult<void> end(Store& store);
  /// All of them.
  DatabaseResult<void> write(Store& store);
  /// Those that could not be written because they were locked, now and then.
  DatabaseResult<void> write_locked(Store& store, Clock::time_point now);

  /// The database is lost: what was being written may have been written.
  void lost();

  struct News {
    bool written = false;
    bool failed = false;  ///< a row that will be tried again, perhaps before all others
  };
  News take_news() { return std::exchange(news_, {}); }

 private:
  void settle(const Finished& row, Written written);
  void note(const Finished& row, const Sending& sending, Written written);

  SendingRows& sending_;
  RelayMetrics& metrics_;
  RelayLog& log_;
  std::vector<Finished> finished_;
  std::vector<Finished> writing_;  ///< the first of finished_, whose writing has begun
  std::vector<Finished> locked_;   ///< whose rows somebody's transaction has locked
  Clock::time_point writing_since_{};
  Clock::time_point next_locked_{};
  News news_{};
};

}  // namespace hk::outbox
