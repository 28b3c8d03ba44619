/// Learns of rows by LISTEN on a connection of its own. That notifications really arrive is proved
/// first: behind a transaction pooler LISTEN succeeds and nothing ever comes. Without proof it
/// polls, says so once, and tries again every few minutes. The relay's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outbox/database.h"
#include "outbox/settings.h"
#include "outbox/source.h"
#include "outbox/source/wake_set.h"

namespace hk::outbox {

struct NotifyTimes {
  Millis connect{5'000};
  Millis proof{2'000};        ///< a notification that has not come by then does not come
  Millis try_again{300'000};  ///< after a failed proof
  Millis silence{60'000};     ///< after it the connection is asked whether it is alive
};

class NotifySource final : public Source {
 public:
  explicit NotifySource(const Settings& settings, NotifyTimes times = {});

  [[nodiscard]] int fd() const override;
  Result<void> on_readable() override;
  Result<void> start() override;
  bool take_due() override;
  [[nodiscard]] Millis look_again_after(std::size_t idle_looks) const override;
  Result<void> looked_through() override { return {}; }

  /// Notifications are known to arrive.
  [[nodiscard]] bool listening() const { return phase_ == Phase::listening; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t {
    away,
    proving,    ///< LISTEN was accepted; the proof is on its way
    listening,  ///< proved
    polling,    ///< no proof; the timer waits for the next try
  };

  Result<void> listen();
  Result<void> send_proof();
  Result<void> read_notifications();
  Result<void> on_timer();
  void fall_back(std::string_view why);
  std::unexpected<Error> lost(Error error);

  const Secret database_;
  const std::string channel_;
  const Millis interval_;
  const NotifyTimes times_;

  WakeSet wake_{};
  std::optional<Database> connection_{};
  Phase phase_ = Phase::away;
  std::string proof_{};
  Clock::time_point deadline_{};  ///< of the proof; when listening, of the silence
  bool due_ = false;
  bool said_ = false;  ///< that it polls
};

}  // namespace hk::outbox
