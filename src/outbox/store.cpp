#include "outbox/store.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "base/encoding.h"
#include "outbox/texts.h"
#include "outbox/transaction.h"

namespace hk::outbox {
namespace {

// The columns of a claim.
struct ClaimRow {
  enum Column : int {
    id,
    attempts,
    key,
    digest,
    order_key,
    traceparent,
    expired,
    ledger_status,
    same_content,
    last_due,  ///< of all of them, the one that comes last in the claim index
    last_id,
    rest,  ///< and from here on those of `read`
  };
};
struct ReadRow {
  enum Column : int { destination, headers, too_large, payload };
};

constexpr std::size_t headers_bytes_max = 65'536;

Outcome aborted(std::string reason, std::string message, int http_status) {
  Outcome outcome;
  outcome.ending = Ending::aborted;
  outcome.reason_code = std::move(reason);
  outcome.message = std::move(message);
  outcome.http_status = http_status;
  return outcome;
}

/// What the ledger and the clock say about sending it.
std::optional<Outcome> verdict(const Rows& rows, std::size_t i) {
  if (rows.text(i, ClaimRow::key).empty()) {
    // All of them would share one entry of the ledger.
    return aborted("INVALID_KEY",
                   "the row has no idempotency key (it is NULL or empty): set one with SQL and "
                   "requeue the row",
                   400);
  }
  if (!rows.flag(i, ClaimRow::same_content)) {
    return aborted("IDEMPOTENCY_CONFLICT",
                   "the ledger has other content under this key: the digests differ", 409);
  }
  if (rows.text(i, ClaimRow::ledger_status) == "succeeded") {
    Outcome outcome;
    outcome.ending = Ending::succeeded;
    outcome.http_status = 200;
    return outcome;
  }
  if (rows.flag(i, ClaimRow::expired)) {
    return aborted("EXPIRED", "the row was not sent before its expires_at", 410);
  }
  return std::nullopt;
}

Claimed bare(const Rows& rows, std::size_t i, const std::string& owner) {
  Claimed claimed;
  Row& row = claimed.row;
  row.claim = {rows.number(i, ClaimRow::id), owner,
               static_cast<std::int32_t>(rows.number(i, ClaimRow::attempts))};
  row.idempotency_key = rows.text(i, ClaimRow::key);
  row.request_digest = rows.text(i, ClaimRow::digest);
  row.order_key = rows.text(i, ClaimRow::order_key);
  row.traceparent = rows.text(i, ClaimRow::traceparent);
  row.in_ledger = !rows.text(i, ClaimRow::ledger_status).empty();
  claimed.settled = verdict(rows, i);
  return claimed;
}

/// Puts in what `read` gives, which begins at the column `first`.
void fill(Claimed& claimed, const Rows& rows, std::size_t i, int first, PayloadType type) {
  Row& row = claimed.row;
  row.destination = rows.text(i, first + ReadRow::destination);
  const std::string_view headers_text = rows.text(i, first + ReadRow::headers);
  auto parsed = headers_text.size() > headers_bytes_max
                    ? fail(ErrorKind::invalid_argument, "the row's headers are too large")
                    : parse_headers(headers_text);
  if (parsed) {
    row.headers = std::move(*parsed);
  } else if (!claimed.settled) {
    claimed.settled = aborted("HEADERS_INVALID", parsed.error().message, 400);
  }
  row.is_json = says_json(row.headers).value_or(true);  // it is sent as JSON then
  if (rows.flag(i, first + ReadRow::too_large)) {
    return;  // nullopt
  }
  if (rows.is_null(i, first + ReadRow::payload)) {
    if (!claimed.settled) {
      claimed.settled = aborted("PAYLOAD_INVALID", "the payload is NULL", 400);
    }
    return;
  }
  const std::string_view text = rows.text(i, first + ReadRow::payload);
  row.payload = type == PayloadType::bytea ? unhex(text) : std::string(text);
}

/// The claims as the first three parameters of a statement.
std::vector<Parameter> parameters_of(const std::vector<Claim>& claims) {
  std::vector<std::int64_t> ids;
  std::vector<std::string> owners;
  std::vector<std::int64_t> counts;
  for (const Claim& claim : claims) {
    ids.push_back(claim.id);
    owners.push_back(claim.locked_by);
    counts.push_back(claim.attempts);
  }
  return {number_array(ids), text_array(owners), number_array(counts)};
}

Parameter number(std::size_t value) { return Parameter(static_cast<std::int64_t>(value)); }

/// A row of the result may be unreadable by itself, or too large to be given out: the connection is
/// well.
bool row_is_unreadable(const DatabaseError& error) {
  return error.sqlstate.starts_with("22") || error.sqlstate.starts_with("54") ||
         error.sqlstate == "53200";
}

}  // namespace

Store::Store(Database& database, const Settings& settings, const Shape& shape)
    : database_(database),
      settings_(settings),
      shape_(shape),
      sql_(store_sql(settings.table, shape)),
      owner_number_(std::random_device{}()) {}

// Every claim has a name of its own, so that a result of an earlier claim of the same process is
// refused even where no attempt was counted between the two (a release, a requeue by force).
std::string Store::next_owner() {
  ++owner_number_;
  std::string bytes;
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    bytes.push_back(static_cast<char>((owner_number_ >> (shift - 8)) & 0xffU));
  }
  return settings_.worker_name + "#" + hex(bytes);
}

// Rows that were claimed leave dead entries at the front of the claim index, which stay as long as
// some old transaction could see them; going over all of them again for every claim would make a
// backlog slower the more of it is done. So while claims come back full, the next one begins where
// the last one ended. What is due before that (a transaction that committed late, a released row)
// is found as soon as a claim does not come back full, and once a second at the latest.
DatabaseResult<std::vector<Claimed>> Store::claim(std::size_t n) {
  constexpr auto look_at_all_every = std::chrono::seconds{1};
  const auto now = std::chrono::steady_clock::now();
  if (settings_.table.strict_order || now - looked_at_all_ >= look_at_all_every) {
    after_ = {};
  }
  if (after_ == After{}) {
    looked_at_all_ = now;
    return claim_from(n);
  }
  auto rows = claim_from(n);
  if (!rows || rows->size() == n) {
    return rows;
  }
  after_ = {};
  looked_at_all_ = now;
  auto others = claim_from(n - rows->size());
  if (others) {  // and without them the first are claimed all the same
    std::move(others->begin(), others->end(), std::back_inserter(*rows));
  }
  return rows;
}

DatabaseResult<std::vector<Claimed>> Store::claim_from(std::size_t n) {
  if (n == 0) {
    return std::vector<Claimed>{};
  }
  const std::string owner = next_owner();
  std::vector<Statement> statements{{quick_plan_settings, {}}};
  if (after_ == After{}) {
    statements.push_back({sql_.date_rows, {}});
  }
  statements.push_back(
      {sql_.claim, {number(n), owner, number(settings_.payload_bytes_max), after_.due, after_.id}});
  auto results = run_again(database_, statements);
  if (!results) {
    return row_is_unreadable(results.error()) ? claim_one_by_one(n)
                                              : std::unexpected(std::move(results).error());
  }
  const Rows& rows = results->back();
  after_ = rows.size() == n ? After{std::string(rows.text(0, ClaimRow::last_due)),
                                    rows.number(0, ClaimRow::last_id)}
                            : After{};
  std::vector<Claimed> claimed;
  claimed.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    claimed.push_back(bare(rows, i, owner));
    fill(claimed.back(), rows, i, ClaimRow::rest, shape_.payload);
  }
  return claimed;
}

/// One of the rows cannot be turned into text (characters that UTF-8 does not have, a jsonb whose
/// text would be larger than PostgreSQL can make): that one is found out and aborted, the others
/// go.
DatabaseResult<std::vector<Claimed>> Store::claim_one_by_one(std::size_t n) {
  const std::string owner = next_owner();
  auto results =
      run_again(database_,
                {{quick_plan_settings, {}},
                 {sql_.claim_bare,
                  {number(n), owner, number(settings_.payload_bytes_max), after_.due, after_.id}}});
  after_ = {};
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const Rows& rows = (*results)[1];
  std::vector<Claimed> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Claimed claimed = bare(rows, i, owner);
    auto one = database_.run(sql_.read,
                             {claimed.row.claim.id, owner, number(settings_.payload_bytes_max)});
    if (one && one->size() == 1) {
      fill(claimed, *one, 0, 0, shape_.payload);
    } else if (!one && !row_is_unreadable(one.error())) {
      // Claimed and not handed out: they go back when the lease expires.
      return std::unexpected(std::move(one).error());
    } else if (!claimed.settled) {
      claimed.settled = aborted(
          "PAYLOAD_INVALID",
          one ? "the row is gone" : "the row cannot be read: " + one.error().error.message, 400);
    }
    all.push_back(std::move(claimed));
  }
  return all;
}

DatabaseResult<std::vector<Beat>> Store::heartbeat(const std::vector<Claim>& claims) {
  std::vector<Beat> beats(claims.size(), Beat::lost);
  if (claims.empty()) {
    return beats;
  }
  auto results =
      run_again(database_, {{quick_plan_settings, {}}, {sql_.heartbeat, parameters_of(claims)}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const Rows& rows = (*results)[1];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    beats.at(static_cast<std::size_t>(rows.number(i, 0) - 1)) =
        rows.flag(i, 1) ? Beat::renewed : Beat::locked;
  }
  return beats;
}

// Two transactions: the rows first become ours, which shuts their late holders out; then they end
// as failed by the same rules as every other row. A crash between the two leaves leases of ours,
// which expire in their turn.
DatabaseResult<std::size_t> Store::expire_leases(std::size_t limit) {
  const std::string owner = next_owner();
  auto results = run_again(
      database_,
      {{quick_plan_settings, {}},
       {sql_.date_leases, {}},
       {sql_.take_expired,
        {number(limit), owner, static_cast<std::int64_t>(settings_.lock_lease.count())}}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const Rows& rows = results->back();
  std::vector<Finished> expired_rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Finished one;
    one.claim = {rows.number(i, ClaimRow::id), owner,
                 static_cast<std::int32_t>(rows.number(i, ClaimRow::attempts))};
    one.idempotency_key = rows.text(i, ClaimRow::key);
    one.request_digest = rows.text(i, ClaimRow::digest);
    one.outcome.reason_code = "LEASE_EXPIRED";
    one.outcome.message =
        "the relay that had the row did not say how it ended before its lease ran out";
    one.outcome.http_status = 504;
    expired_rows.push_back(std::move(one));
  }
  auto written = finish(expired_rows);
  if (!written) {
    return std::unexpected(std::move(written).error());
  }
  return expired_rows.size();
}

DatabaseResult<std::size_t> Store::release(const std::vector<Claim>& claims) {
  if (claims.empty()) {
    return 0;
  }
  auto results = run_again(database_, {{plan_settings, {}}, {sql_.release, parameters_of(claims)}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return (*results)[1].affected();
}

DatabaseResult<std::size_t> Store::release_unknown(const std::vector<Claim>& known) {
  std::vector<Parameter> parameters = parameters_of(known);
  parameters.pop_back();  // the attempts
  parameters.insert(parameters.begin(), Parameter(settings_.worker_name + "#"));
  auto results =
      run_again(database_, {{plan_settings, {}}, {sql_.release_unknown, std::move(parameters)}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return (*results)[1].affected();
}

DatabaseResult<std::optional<Millis>> Store::next_due() {
  auto results = run_again(database_, {{plan_settings, {}}, {sql_.next_due, {}}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const Rows& rows = (*results)[1];
  return rows.size() == 0 ? std::optional<Millis>{} : Millis{rows.number(0, 0)};
}

DatabaseResult<std::size_t> Store::clean_up(std::size_t limit) {
  if (settings_.retention_finished.count() <= 0) {
    return 0;
  }
  auto results = run_again(
      database_,
      {{quick_plan_settings, {}},
       {housekeeping_settings, {}},
       {sql_.clean_up,
        {number(limit), static_cast<std::int64_t>(settings_.retention_finished.count())}}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const std::size_t rows = results->at(2).affected();
  if (!settings_.table.delete_succeeded) {
    return rows;
  }
  auto entries = run_again(
      database_,
      {{summary_plan_settings, {}},
       {housekeeping_settings, {}},
       {sql_.clean_ledger,
        {number(limit), static_cast<std::int64_t>(settings_.retention_finished.count())}}});
  if (!entries) {
    return std::unexpected(std::move(entries).error());
  }
  return std::max(rows, entries->at(2).affected());
}

DatabaseResult<Counts> Store::counts() {
  auto results =
      run_again(database_, {{plan_settings, {}}, {housekeeping_settings, {}}, {sql_.counts, {}}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  const Rows& rows = (*results)[2];
  Counts counts{rows.number(0, 0), rows.number(0, 1), rows.number(0, 2), rows.number(0, 3), {}};
  if (!rows.is_null(0, 4)) {
    counts.oldest_due = Millis{rows.number(0, 4)};
  }
  return counts;
}

}  // namespace hk::outbox
