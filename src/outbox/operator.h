/// What a person does with an outbox table: look, requeue, release, abort. Each call is safe at any
/// time beside running relays: a row that a relay holds by a live lease is left alone unless
/// forced, and with force the fence makes what that relay says later harmless. The caller's thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "outbox/database.h"
#include "outbox/schema.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::outbox {

struct Holder {
  std::string worker{};  ///< locked_by without the number of the claim; "": it is NULL or empty
  std::int64_t rows = 0;
  std::optional<Millis> oldest_heartbeat{};  ///< nothing: the rows do not say
};

/// Rows that wait for their broker.
struct PostponedRows {
  std::int64_t rows = 0;
  std::string reason_code{};  ///< what the last of them met
  std::string message{};
  Millis ago{};
};

struct StatusReport {
  Counts counts{};
  std::int64_t succeeded = 0;
  std::int64_t other = 0;  ///< with a status that is none of the five: no relay looks at them
  std::int64_t leases_expired = 0;  ///< of those `sending`
  std::vector<Holder> holders{};
  PostponedRows postponed{};
};

struct Summary {
  std::int64_t id = 0;
  std::string idempotency_key{};  ///< "": NULL or empty
  std::string status{};           ///< "NULL": it has none
  std::int32_t attempts = 0;
  std::string destination{};
  std::string order_key{};
  std::optional<Moment> created_at{};  ///< nothing: NULL or infinite, as all of them
  std::optional<Moment> updated_at{};
  std::optional<Moment> next_run_at{};
  std::string locked_by{};
  std::optional<Moment> locked_at{};
  std::string last_error_code{};
  std::string last_error_msg{};
};

struct LedgerEntry {
  std::string request_digest{};
  std::string status{};
  std::optional<int> http_status{};
  std::string reason_code{};
  std::string response{};
  std::optional<Moment> updated_at{};
};

struct Detail {
  Summary row{};
  std::string request_digest{};
  std::string headers{};
  std::optional<std::int64_t> payload_bytes{};  ///< nothing: it is NULL
  std::optional<std::string> payload{};         ///< only when asked for; bytea as hex
  std::optional<LedgerEntry> ledger{};
};

struct ListQuery {
  std::string status{};  ///< "": any; "other": one that is none of the five
  std::int64_t after = std::numeric_limits<std::int64_t>::min();  ///< last id of the page before
  std::size_t limit = 100;                                        ///< at most 1000
};

/// Rows by id, or all that fit.
struct Selection {
  std::vector<std::int64_t> ids{};
  bool all = false;           ///< requeue: every aborted row; release: every expired lease
  std::string reason_code{};  ///< with `all`, of requeue: only of this last_error_code
  bool force = false;         ///< also rows with a live lease
};

struct Refusal {
  std::int64_t id = 0;
  std::string why{};
};

struct Changed {
  std::size_t count = 0;
  std::vector<Refusal> refused{};  ///< of the ids that were named
};

class Operator {
 public:
  Operator(Database& database, const Settings& settings, const Shape& shape);

  /// Counts the rows that succeeded one by one: it takes its time on a table of many millions.
  DatabaseResult<StatusReport> status();
  DatabaseResult<std::vector<Summary>> list(const ListQuery& query);
  DatabaseResult<std::optional<Detail>> show(std::int64_t id, bool with_payload);
  DatabaseResult<std::optional<Detail>> show(const std::string& idempotency_key, bool with_payload);

  /// Aborted and failed rows (and `sending` ones without a live lease) start again from the first
  /// attempt, at once. Relays are woken.
  DatabaseResult<Changed> requeue(const Selection& selection);

  /// `sending` rows whose lease has expired (any, by force) are pending again; no attempt is
  /// counted.
  DatabaseResult<Changed> release(const Selection& selection);

  /// Unfinished rows end: the ledger says failed, then the row aborted, with this message. A row
  /// whose key the ledger knows as succeeded becomes succeeded instead.
  DatabaseResult<Changed> abort(const Selection& selection, const std::string& message);

 private:
  DatabaseResult<Changed> change(const std::string& sql, const Selection& selection);
  DatabaseResult<Changed> change_all(const std::string& sql, const std::string& reason_code);
  DatabaseResult<std::optional<Detail>> show_where(const std::string& where, Parameter value,
                                                   bool with_payload);
  [[nodiscard]] Statement wake() const;

  Database& database_;
  const Settings settings_;
  const Shape shape_;
  const std::string channel_;
};

}  // namespace hk::outbox
