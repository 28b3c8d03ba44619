/// What a relay does about a broker that is away: rows that met its fault, and those that wait for
/// their turn, go back to the table without an attempt counted, so that another relay may try them;
/// and nothing is claimed for it until its pause is over. The relay's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "outbox/broker_pauses.h"
#include "outbox/relay_log.h"
#include "outbox/relay_metrics.h"
#include "outbox/sender.h"
#include "outbox/sending.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::outbox {

class RelayBroker {
 public:
  using Clock = std::chrono::steady_clock;

  /// All of them outlive it, or `sender` until the last row was taken from it.
  RelayBroker(const Settings& settings, Sender& sender, RelayMetrics& metrics, RelayLog& log);

  /// How many rows may be claimed: any number where each row names its own host.
  [[nodiscard]] std::size_t claims(Clock::time_point now) const;
  /// When there may be more; never while rows on their way will tell.
  [[nodiscard]] Clock::time_point next_claims(Clock::time_point now) const;

  /// Before a row is sent; gives it its target. False: its host is away, and the row goes back.
  bool admit(Row& row, Clock::time_point now);
  /// After the sender let go of it. True: the row goes back, and there is no outcome to write.
  bool takes_back(const Sent& sent, const Sending& sending, Clock::time_point now);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }  ///< to go back
  [[nodiscard]] Clock::time_point next_give_back() const { return next_give_back_; }
  /// Into the table, and out of `sending`. Gives how many.
  DatabaseResult<std::size_t> give_back(Store& store, SendingRows& sending, Clock::time_point now);

 private:
  [[nodiscard]] Millis wait_for(const std::string& target, Clock::time_point now) const;
  void fault(const Sent& sent, const std::string& target, const BrokerPauses::Verdict& verdict,
             Clock::time_point now);

  void note(const Postponed& row, const Sending& sending, Clock::time_point now);

  const Settings& settings_;
  Sender& sender_;
  RelayMetrics& metrics_;
  RelayLog& log_;
  const std::string broker_;  ///< the one of all rows; "": each has its own
  BrokerPauses pauses_;
  std::vector<Postponed> waiting_;
  Clock::time_point next_give_back_{};
  Clock::time_point next_count_{};
};

}  // namespace hk::outbox
