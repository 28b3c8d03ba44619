/// The outbox table and its ledger as a relay uses them: claim rows, write how they ended, keep and
/// take over leases, clean up. Every call is one round trip and one transaction (expire_leases, and
/// clean_up where rows leave: two), with no state in the session. Called by the relay's thread,
/// over the relay's connection; any number of relays work on one table.
///
/// Invariants: a row is sent only by who has claimed it. What was claimed is written only by the
/// same claim (the fence: id, locked_by, attempts, still `sending`). The ledger is written before
/// the row or with it, and is right where they disagree.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "outbox/database.h"
#include "outbox/row.h"
#include "outbox/schema.h"
#include "outbox/settings.h"
#include "outbox/store_sql.h"

namespace hk::outbox {

struct Claimed {
  Row row{};
  /// The row is not to be sent: it ends as this says, by finish(). It has no key or no payload, its
  /// key has succeeded or is taken by other content in the ledger, it is past its expiry, or its
  /// headers cannot be read.
  std::optional<Outcome> settled{};
};

struct Finished {
  Claim claim{};
  std::string idempotency_key{};  ///< "": it has none, and nothing of it is in the ledger
  std::string request_digest{};
  Outcome outcome{};
  bool again = false;  ///< it was said before, and no answer came: it may have been written
  /// The ledger had an entry of its key when it was claimed. Only for speed: where nothing was
  /// known of one and there is one by now, that is found out.
  bool in_ledger = false;
};

/// A row that was not taken for no fault of its own, or not begun: it goes back, no attempt
/// counted.
struct Postponed {
  Claim claim{};
  std::optional<Millis> delay{};  ///< from now; nothing: it keeps its place
  std::string reason_code{};      ///< "": what stands in the row stays
  std::string message{};
};

/// What became of a row in the table.
enum class Written : std::uint8_t {
  succeeded,  ///< also a failure whose key the ledger knows as succeeded
  failed,     ///< to be tried again
  aborted,
  refused,    ///< the claim was no longer ours: the row is as it was; a success is in the ledger
  unwritten,  ///< the database does not take it (a constraint of the user's): the lease will expire
  later,      ///< still ours, and locked by somebody's transaction: to be said again. A success is
              ///< in the ledger, unless that is locked, too
  postponed,  ///< given back by postpone()
};

/// What a heartbeat did to a lease.
enum class Beat : std::uint8_t {
  renewed,
  locked,  ///< by somebody's transaction: ours, not to be taken over meanwhile, and not made new
  lost,    ///< no longer ours
};

struct Counts {
  std::int64_t pending = 0;
  std::int64_t failed = 0;
  std::int64_t sending = 0;
  std::int64_t aborted = 0;
  std::optional<Millis> oldest_due{};  ///< how long the row that is due longest has been waiting
};

class Store {
 public:
  /// `settings.worker_name` is the base of locked_by. REQUIRES: `shape` is of check_schema().
  Store(Database& database, const Settings& settings, const Shape& shape);

  /// Up to `n` rows that are due, by creation. With strict order only the oldest of each order key.
  /// A row that says neither when it was made nor when it is to run is due at once.
  DatabaseResult<std::vector<Claimed>> claim(std::size_t n);

  /// In the order given. After `unavailable` it is not known whether it was written; saying it
  /// again is harmless, and tells what was written the first time as such and not as refused.
  DatabaseResult<std::vector<Written>> finish(const std::vector<Finished>& rows);

  /// The same for rows that were `later`: without waiting for any that still is.
  DatabaseResult<std::vector<Written>> finish_unlocked(const std::vector<Finished>& rows);

  /// finish() in two halves, with the same rows: PostgreSQL writes while the caller claims over
  /// another connection. REQUIRES: there are rows.
  DatabaseResult<void> begin_finish(const std::vector<Finished>& rows);
  DatabaseResult<std::vector<Written>> end_finish(const std::vector<Finished>& rows);

  /// Makes the leases new, from now() on. In the order given.
  DatabaseResult<std::vector<Beat>> heartbeat(const std::vector<Claim>& claims);

  /// Takes over up to `limit` rows whose holder let the lease run out: each counts as an attempt
  /// that failed (LEASE_EXPIRED) and is due at once, or aborted. Gives how many. A row that is
  /// `sending` since nobody knows when begins a lease with this.
  DatabaseResult<std::size_t> expire_leases(std::size_t limit);

  /// Gives rows back that were not sent, without counting an attempt; but not those that somebody
  /// has locked, whose leases run out. Gives how many.
  DatabaseResult<std::size_t> release(const std::vector<Claim>& claims);

  /// The same, with when and why. Says which were given back: not those that somebody has locked,
  /// or that are not ours. What the database refuses is left to its lease, and counts as given
  /// back.
  DatabaseResult<std::vector<bool>> postpone(const std::vector<Postponed>& rows);

  /// The same as release() for rows that this worker claimed without hearing of it: those that it
  /// holds and that are not among `known`. REQUIRES: no other relay has its worker_name.
  DatabaseResult<std::size_t> release_unknown(const std::vector<Claim>& known);

  /// How long until a row is due; nothing when none waits. Zero does not promise that claim() finds
  /// one: another relay may be taking it.
  DatabaseResult<std::optional<Millis>> next_due();

  /// Deletes up to `limit` rows, with their ledger entries, that ended longer ago than the
  /// retention; and up to `limit` such entries of rows that left when they succeeded. Gives the
  /// larger number of the two. This and counts() are ended by the server after five seconds
  /// (57014), and the connection is well.
  DatabaseResult<std::size_t> clean_up(std::size_t limit);

  /// Each counted up to a million: a backlog beyond that is not counted one by one for a gauge.
  DatabaseResult<Counts> counts();

  /// False: what failed last was the connection, or is the connection now.
  [[nodiscard]] bool connected() const { return !database_.broken(); }

 private:
  /// A place in the claim index; at first before everything.
  struct After {
    std::string due{"-infinity"};
    std::int64_t id = std::numeric_limits<std::int64_t>::min();
    friend bool operator==(const After&, const After&) = default;
  };

  DatabaseResult<std::vector<Claimed>> claim_from(std::size_t n);
  DatabaseResult<std::vector<Claimed>> claim_one_by_one(std::size_t n);
  [[nodiscard]] bool is_quick(const Finished& row) const;
  [[nodiscard]] Statement quick_statement(const std::vector<Finished>& rows) const;
  [[nodiscard]] std::vector<Statement> quick_statements(const std::vector<Finished>& rows) const;
  [[nodiscard]] std::vector<Written> quickly_written(const std::vector<Finished>& rows,
                                                     const std::vector<Rows>& results) const;
  [[nodiscard]] std::vector<Statement> finish_statements(const std::vector<Finished>& rows,
                                                         bool plain) const;
  [[nodiscard]] bool leaves(bool plain) const;
  [[nodiscard]] std::vector<Written> carefully_written(const std::vector<Rows>& results,
                                                       std::size_t count, bool plain) const;
  DatabaseResult<std::vector<Written>> finish_carefully(const std::vector<Finished>& rows);
  DatabaseResult<std::vector<Written>> finish_together(const std::vector<Finished>& rows,
                                                       bool plain);
  DatabaseResult<std::vector<Written>> finish_one_by_one(const std::vector<Finished>& rows);
  DatabaseResult<void> write_successes(const std::vector<Finished>& rows);
  std::string next_owner();

  Database& database_;
  const Settings settings_;
  const Shape shape_;
  const StoreSql sql_;
  std::uint32_t owner_number_;
  After after_{};  ///< where the next claim begins; see claim()
  std::chrono::steady_clock::time_point looked_at_all_{};
};

}  // namespace hk::outbox
