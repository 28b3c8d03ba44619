/// Which position of a replication slot may be let go. A commit that concerns the outbox is owed
/// until the table was looked through after it had been told; as long as one is owed, nothing
/// behind it is confirmed, so a crash at any point makes the slot repeat it. While none is owed the
/// position follows the server's keepalives: an idle outbox in a busy database must not retain its
/// log. Pure.
#pragma once

#include <string>

#include "outbox/source/replication_frame.h"

namespace hk::outbox {

class SlotProgress {
 public:
  /// `prefix` is that of messages which ask for a look.
  explicit SlotProgress(std::string prefix) : prefix_(std::move(prefix)) {}

  /// A stream begins; the slot was confirmed up to here. Counts as due: what was committed before
  /// the slot existed is in the table alone.
  void restart(Lsn confirmed);

  void on_change(const pgoutput::Change& change);
  void on_keepalive(Lsn end);

  [[nodiscard]] bool due() const { return due_; }
  bool take_due();
  /// True when confirmed() has risen.
  bool looked_through();
  void make_due() { due_ = true; }

  [[nodiscard]] Lsn confirmed() const { return confirmed_; }
  [[nodiscard]] Lsn received() const { return received_ > confirmed_ ? received_ : confirmed_; }

 private:
  void follow();

  std::string prefix_;
  bool due_ = false;
  bool in_transaction_ = false;
  bool concerns_us_ = false;  ///< the transaction that is being received
  Lsn received_ = 0;          ///< end of the last commit
  Lsn owed_ = 0;              ///< end of the last commit that concerns us
  Lsn told_ = 0;              ///< owed_ when take_due() last said true
  Lsn idle_end_ = 0;          ///< nothing after owed_ and before this concerns us
  Lsn confirmed_ = 0;
};

}  // namespace hk::outbox
