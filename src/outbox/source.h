/// Where a relay learns of rows that are due. One interface for polling, LISTEN/NOTIFY and logical
/// replication: whoever says it, the row is claimed in the table before it is sent, so a source
/// that is late, repeats itself or dies can delay a row but never lose or double one. The relay's
/// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "outbox/row.h"

namespace hk::outbox {

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Readable when on_readable() should be called; -1 while there is none (not connected).
  [[nodiscard]] virtual int fd() const = 0;

  /// Reads what has come without blocking. unavailable: the connection is lost; start() again
  /// later.
  virtual Result<void> on_readable() = 0;

  /// Connects or connects again. Safe to repeat.
  virtual Result<void> start() = 0;

  /// True when rows may be due that have not been asked for since the last true.
  virtual bool take_due() = 0;

  /// The longest time to wait before the table is looked at without being told to. `idle_looks` in
  /// a row found nothing.
  [[nodiscard]] virtual Millis look_again_after(std::size_t idle_looks) const = 0;

  /// The table was looked through: every row committed before that look began, as far as this
  /// source had told of it, is claimed, finished or waits in the table for its time. What a source
  /// keeps for repetition (a replication slot's position) may be let go.
  virtual Result<void> looked_through() = 0;

  /// Bytes of log that the server keeps because of this source; any thread.
  [[nodiscard]] virtual std::uint64_t retained_wal() const { return 0; }
};

}  // namespace hk::outbox
