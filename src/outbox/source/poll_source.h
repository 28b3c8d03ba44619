/// Learns of rows by looking: the source that needs nothing of the database but the table.
#pragma once

#include <utility>

#include "outbox/source.h"
#include "outbox/source/look_delay.h"

namespace hk::outbox {

class PollSource final : public Source {
 public:
  explicit PollSource(Millis interval) : interval_(interval) {}

  [[nodiscard]] int fd() const override { return -1; }
  Result<void> on_readable() override { return {}; }
  Result<void> start() override {
    due_ = true;
    return {};
  }
  bool take_due() override { return std::exchange(due_, false); }
  [[nodiscard]] Millis look_again_after(std::size_t idle_looks) const override {
    return poll_delay(interval_, idle_looks);
  }
  Result<void> looked_through() override { return {}; }

 private:
  Millis interval_;
  bool due_ = false;
};

}  // namespace hk::outbox
