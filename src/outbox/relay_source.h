/// The source of a relay, which may be away: it is started again after a pause, and the table is
/// polled meanwhile. The relay's thread.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/time.h"
#include "outbox/relay_log.h"
#include "outbox/source.h"

namespace hk::outbox {

class RelaySource {
 public:
  using Clock = std::chrono::steady_clock;

  /// `log` outlives it.
  RelaySource(std::unique_ptr<Source> source, RelayLog& log)
      : source_(std::move(source)), log_(log) {}

  Source* operator->() const { return source_.get(); }
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] int fd() const { return up_ ? source_->fd() : -1; }
  /// When it is to be started again; never while it is up.
  [[nodiscard]] Clock::time_point next_try() const {
    return up_ ? Clock::time_point::max() : next_try_;
  }

  /// Starts it when its time has come. True: it is up, and was not.
  bool start(Clock::time_point now);
  // False: it was lost.
  bool read(Clock::time_point now);
  bool tell(Clock::time_point now);  ///< that the table was looked through

 private:
  bool keep(const Result<void>& result, Clock::time_point now);

  const std::unique_ptr<Source> source_;
  RelayLog& log_;
  bool up_ = false;
  Clock::time_point next_try_{};
};

}  // namespace hk::outbox
