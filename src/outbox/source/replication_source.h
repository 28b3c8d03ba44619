/// Learns of rows from the write-ahead log, by a replication slot: a commit that put rows into the
/// outbox is told at once, and again after a crash until the table was looked through. One relay
/// has the slot; the others stand by, polling slowly, and take it when it becomes free. An ordinary
/// connection beside the stream watches how much log the slot retains. The relay's thread, but for
/// retained_wal().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "outbox/settings.h"
#include "outbox/source.h"
#include "outbox/source/replication_link.h"
#include "outbox/source/slot.h"
#include "outbox/source/slot_progress.h"
#include "outbox/source/wake_set.h"

namespace hk::outbox {

struct ReplicationPace {
  Millis connect{5'000};
  Millis tick{5'000};       ///< status updates, and the measuring of retained log
  Millis take_over{3'000};  ///< how often a relay that stands by looks whether the slot is free
  Millis ask{20'000};       ///< a server that was silent for so long is asked for an answer
  Millis silence{60'000};   ///< after which the connection is given up
  /// A transaction of millions of rows must not keep the relay from its work.
  std::size_t frames_per_read_max = 4096;
};

class ReplicationSource final : public Source {
 public:
  explicit ReplicationSource(Settings settings, ReplicationPace pace = {});

  [[nodiscard]] int fd() const override;
  Result<void> on_readable() override;
  Result<void> start() override;
  bool take_due() override { return progress_.take_due(); }
  [[nodiscard]] Millis look_again_after(std::size_t idle_looks) const override;
  Result<void> looked_through() override;
  [[nodiscard]] std::uint64_t retained_wal() const override { return retained_; }

  /// It has the slot, and rows are told.
  [[nodiscard]] bool streaming() const { return phase_ == Phase::streaming; }
  /// Another relay has it.
  [[nodiscard]] bool standing_by() const { return phase_ == Phase::standby; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { away, creating, standby, streaming };

  Result<void> connect_watch();
  Result<void> take_slot();
  Result<void> connect_link();
  Result<void> create();
  Result<void> stream(Lsn confirmed);
  Result<void> drop_for_rebuild(const SlotState& state);
  void stand_by(std::int64_t holder);

  Result<void> read_ready(const WakeSet::Ready& ready);
  Result<void> read_created();
  Result<void> read_stream();
  Result<void> take_frame(const ReplicationFrame& frame);
  Result<void> tick();
  Result<void> send_status(bool reply_wanted);
  void measure(const SlotState& state);
  void schedule_tick();
  void arm();
  std::unexpected<Error> lost(Error error);

  const Settings settings_;
  const ReplicationPace pace_;
  const std::string channel_;

  WakeSet wake_{};
  Phase phase_ = Phase::away;
  std::string slot_{};
  std::optional<Database> watch_{};
  std::optional<ReplicationLink> link_{};
  SlotProgress progress_;
  Clock::time_point heard_{};
  std::optional<Clock::time_point> told_{};  ///< when a commit with rows for us came last
  Clock::time_point next_tick_{};
  bool rebuild_ = false;  ///< what the slot holds cannot be decoded
  bool unread_ = false;   ///< libpq holds more of the stream: no descriptor says so
  bool said_standby_ = false;
  bool said_retains_ = false;
  std::atomic<std::uint64_t> retained_{0};
};

}  // namespace hk::outbox
