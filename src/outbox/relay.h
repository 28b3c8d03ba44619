/// The relay: claims rows that are due, hands them to the sender, writes what became of them. A
/// thread of its own, which waits for the database and does everything with it; the sender's thread
/// goes on meanwhile. Any number of relays, here and elsewhere, work on one table.
///
/// The database away, read-only, full or slow: what was sent stays in memory until it can be
/// written, nothing new is claimed, and the relay tries again with growing pauses. What it cannot
/// keep (the process ends) is sent again when the lease has run out: at least once.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/time.h"
#include "outbox/relay_metrics.h"
#include "outbox/send/carrier.h"
#include "outbox/settings.h"

namespace hk::observe {
class SpanExporter;
}  // namespace hk::observe

namespace hk::outbox {

class Relay {
 public:
  /// invalid_argument: a setting that cannot work, named in the text. The database is not asked
  /// yet. `spans` may be null: nothing is traced. `own_server`: see make_sender(). Everything
  /// outlives the relay.
  static Result<std::unique_ptr<Relay>> make(const Settings& settings, RelayMetrics& metrics,
                                             observe::SpanExporter* spans,
                                             const MakeCarrier& own_server = {});
  Relay() = default;
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  virtual ~Relay() = default;  ///< stop(0) if it was not stopped

  virtual void start() = 0;

  /// Claims nothing more, gives what is on its way this long to end, writes it, gives the rest back
  /// to the table, and returns. From any thread, once.
  virtual void stop(Millis drain) = 0;
};

}  // namespace hk::outbox
