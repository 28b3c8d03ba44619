/// Where a row goes. One interface for every adapter (`http`, `hikyaku`, `sqs`): what is sent and
/// what an answer means is all that they differ in. Used by the relay's thread alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "outbox/row.h"

namespace hk::outbox {

struct Sent {
  Claim claim{};
  Outcome outcome{};
  bool begun = true;      ///< false: its lease was lost before its turn came. There is no outcome
  bool recalled = false;  ///< it was not begun because of recall(), and is still ours
};

class Sender {
 public:
  Sender() = default;
  virtual ~Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// The one server that every row goes to; "": each row names its own.
  [[nodiscard]] virtual std::string broker() const = 0;
  /// The server that the row goes to, if its faults are not those of rows; "": they are.
  [[nodiscard]] virtual std::string target_of(const Row& row) const = 0;

  /// Takes the row, which waits for one of OUTBOX_CONCURRENCY places; its end is among
  /// take_finished() later, exactly once, BROKER_TIMEOUT_MS after it was begun at the latest. Never
  /// blocks. A row that cannot be sent at all (broken payload, no destination) ends the same way.
  ///
  /// It is begun only while its lease is ours. One that is in doubt lets others pass and waits for
  /// look_at_leases(); one that is lost ends without having begun.
  virtual void send(Row row) = 0;

  /// Rows of this target that wait for a place are not begun, and end so.
  virtual void recall(const std::string& target) = 0;

  /// A heartbeat has said more about the leases of rows that wait.
  virtual void look_at_leases() = 0;

  /// Readable while take_finished() has something.
  [[nodiscard]] virtual int ready_fd() const = 0;
  virtual std::vector<Sent> take_finished() = 0;

  [[nodiscard]] virtual std::size_t in_flight() const = 0;
};

}  // namespace hk::outbox
