/// Where a row goes. One interface for every adapter (`http`, `hikyaku`, `sqs`): what is sent and
/// what an answer means is all that they differ in. Used by the relay's thread alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "outbox/row.h"

namespace hk::outbox {

struct Sent {
  Claim claim{};
  Outcome outcome{};
};

class Sender {
 public:
  Sender() = default;
  virtual ~Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Takes the row; its end is among take_finished() later, exactly once, after BROKER_TIMEOUT_MS
  /// at the latest. Never blocks. A row that cannot be sent at all (broken payload, no destination)
  /// ends the same way.
  virtual void send(Row row) = 0;

  /// Readable while take_finished() has something.
  [[nodiscard]] virtual int ready_fd() const = 0;
  virtual std::vector<Sent> take_finished() = 0;

  [[nodiscard]] virtual std::size_t in_flight() const = 0;
};

}  // namespace hk::outbox
