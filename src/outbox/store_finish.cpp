#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "outbox/store.h"
#include "outbox/texts.h"
#include "outbox/transaction.h"

namespace hk::outbox {
namespace {

constexpr Millis delay_max = std::chrono::hours{24 * 365};
constexpr std::size_t message_bytes_max = 4'096;  ///< of which PostgreSQL keeps 512 characters

/// How a row ends by the settings: the last allowed attempt that fails aborts it.
Ending ending_of(const Finished& row, const Settings& settings) {
  if (row.outcome.ending == Ending::failed && row.claim.attempts + 1 >= settings.max_attempts) {
    return Ending::aborted;
  }
  return row.outcome.ending;
}

/// After an attempt that failed. A lease that ran out has cost time enough.
Millis delay_of(const Finished& row, const Settings& settings) {
  Millis delay{0};
  if (row.outcome.reason_code != "LEASE_EXPIRED" && !settings.backoff.empty()) {
    const auto attempt = static_cast<std::size_t>(std::max(row.claim.attempts, 0));
    delay = settings.backoff[std::min(attempt, settings.backoff.size() - 1)];
  }
  return std::clamp(std::max(delay, row.outcome.retry_after.value_or(Millis{0})), Millis{0},
                    delay_max);
}

std::int64_t http_status_of(const Outcome& outcome) {
  if (outcome.http_status != 0) {
    return outcome.http_status;
  }
  return outcome.ending == Ending::succeeded ? 200 : 500;
}

const char* word(Ending ending) {
  switch (ending) {
    case Ending::succeeded: return "succeeded";
    case Ending::failed: return "failed";
    case Ending::aborted: return "aborted";
  }
  std::unreachable();
}

Written written_of(std::string_view ending) {
  return ending == "succeeded" ? Written::succeeded
         : ending == "failed"  ? Written::failed
                               : Written::aborted;
}

/// By what write_outbox gave, for each of the rows that it got.
std::vector<Written> written_of(const Rows& done, std::size_t count) {
  std::vector<Written> written(count, Written::refused);
  for (std::size_t i = 0; i < done.size(); ++i) {
    written.at(static_cast<std::size_t>(done.number(i, 0) - 1)) = written_of(done.text(i, 1));
  }
  return written;
}

/// One array for each column of the rows that a statement gets.
struct ClaimColumns {
  std::vector<std::int64_t> ids{};
  std::vector<std::string> owners{};
  std::vector<std::int64_t> attempts{};
  std::vector<std::string> keys{};
  std::vector<std::string> digests{};

  void add(const Finished& row) {
    ids.push_back(row.claim.id);
    owners.push_back(row.claim.locked_by);
    attempts.push_back(row.claim.attempts);
    keys.push_back(row.idempotency_key);
    digests.push_back(row.request_digest);
  }
  [[nodiscard]] std::vector<Parameter> claims() const {
    return {number_array(ids), text_array(owners), number_array(attempts)};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const {
    std::vector<Parameter> all = claims();
    all.emplace_back(text_array(keys));
    all.emplace_back(text_array(digests));
    return all;
  }
};

/// The database does not take a row as it is (a value, a constraint, a trigger of its owner): the
/// rest of the batch need not suffer for it.
bool row_is_refused(const DatabaseError& error) {
  constexpr std::string_view classes[] = {"21", "22", "23", "44", "54", "P0"};
  return std::any_of(std::begin(classes), std::end(classes),
                     [&](std::string_view prefix) { return error.sqlstate.starts_with(prefix); });
}

/// Somebody has a lock on a row, on its ledger entry or on a table, and does not let go.
bool is_locked(const DatabaseError& error) { return error.sqlstate == "55P03"; }

}  // namespace

/// `plain`: nothing of the receiver's own words but ASCII, for a row that the database refused; and
/// it stays in the table, which may be what the database insists on (a foreign key).
std::vector<Statement> Store::finish_statements(const std::vector<Finished>& rows,
                                                bool plain) const {
  ClaimColumns ledger;
  std::string succeeded = "{";
  std::vector<std::int64_t> http_statuses;
  std::vector<std::string> responses;
  std::vector<std::string> ledger_reasons;
  bool failed_for_good = false;

  ClaimColumns outbox;
  std::vector<std::string> endings;
  std::vector<std::string> reasons;
  std::vector<std::string> messages;
  std::vector<std::int64_t> delays;
  std::string again = "{";

  for (const Finished& row : rows) {
    const Ending ending = ending_of(row, settings_);
    const std::string reason = clean_text(row.outcome.reason_code);
    if (ending != Ending::failed && !row.idempotency_key.empty()) {
      const bool ok = ending == Ending::succeeded;
      failed_for_good = failed_for_good || !ok;
      ledger.add(row);
      succeeded += std::string(succeeded.size() > 1 ? "," : "") + (ok ? "t" : "f");
      http_statuses.push_back(http_status_of(row.outcome));
      responses.push_back(plain ? "" : response_json(row.outcome.response));
      ledger_reasons.push_back(reason);
    }
    const std::string_view message =
        std::string_view(row.outcome.message).substr(0, message_bytes_max);
    outbox.add(row);
    endings.emplace_back(word(ending));
    reasons.push_back(reason);
    messages.push_back(plain ? plain_text(message) : clean_text(message));
    delays.push_back(delay_of(row, settings_).count());
    again += std::string(again.size() > 1 ? "," : "") + (row.again ? "t" : "f");
  }

  std::vector<Statement> statements;
  statements.push_back({finish_settings, {}});
  if (failed_for_good) {
    // The ledger says `failed` only of rows that are ours and stay ours until the row is written.
    statements.push_back({sql_.lock, ledger.claims()});
  }
  if (!ledger.ids.empty()) {
    Statement write{sql_.write_ledger, ledger.parameters()};
    write.parameters.emplace_back(succeeded + "}");
    write.parameters.emplace_back(number_array(http_statuses));
    write.parameters.emplace_back(text_array(responses));
    write.parameters.emplace_back(text_array(ledger_reasons));
    statements.push_back(std::move(write));
  }
  Statement write{sql_.write_outbox, outbox.parameters()};
  write.parameters.emplace_back(text_array(endings));
  write.parameters.emplace_back(text_array(reasons));
  write.parameters.emplace_back(text_array(messages));
  write.parameters.emplace_back(number_array(delays));
  write.parameters.emplace_back(again + "}");
  statements.push_back(std::move(write));
  if (leaves(plain)) {
    statements.push_back({sql_.leave, {number_array(outbox.ids), number_array(outbox.attempts)}});
  }
  return statements;
}

/// Whether the rows that succeed by finish_statements() leave the table.
bool Store::leaves(bool plain) const { return settings_.table.delete_succeeded && !plain; }

/// By the results of finish_statements(), for each of the rows that it got.
std::vector<Written> Store::carefully_written(const std::vector<Rows>& results, std::size_t count,
                                              bool plain) const {
  return written_of(results.at(results.size() - (leaves(plain) ? 2 : 1)), count);
}

/// A success that nothing is known about in the ledger, said for the first time.
bool Store::is_quick(const Finished& row) const {
  return ending_of(row, settings_) == Ending::succeeded && !row.idempotency_key.empty() &&
         !row.again && !row.in_ledger;
}

Statement Store::quick_statement(const std::vector<Finished>& rows) const {
  std::vector<std::int64_t> ids;
  std::vector<std::string_view> owners;
  std::vector<std::int32_t> attempts;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> digests;
  std::vector<std::int32_t> http_statuses;
  std::vector<std::string> responses;
  responses.reserve(rows.size());
  for (const Finished& row : rows) {
    if (is_quick(row)) {
      ids.push_back(row.claim.id);
      owners.push_back(row.claim.locked_by);
      attempts.push_back(row.claim.attempts);
      keys.push_back(row.idempotency_key);
      digests.push_back(row.request_digest);
      http_statuses.push_back(static_cast<std::int32_t>(http_status_of(row.outcome)));
      responses.push_back(response_json(row.outcome.response));
    }
  }
  return {sql_.write_quickly,
          {binary_array(ids), binary_array(owners), binary_array(attempts), binary_array(keys),
           binary_array(digests), binary_array(http_statuses),
           binary_array(std::vector<std::string_view>(responses.begin(), responses.end()))}};
}

std::vector<Statement> Store::quick_statements(const std::vector<Finished>& rows) const {
  std::vector<Finished> others;
  std::ranges::copy_if(rows, std::back_inserter(others),
                       [&](const Finished& row) { return !is_quick(row); });
  if (others.size() == rows.size()) {
    return finish_statements(rows, false);
  }
  std::vector<Statement> statements = others.empty() ? std::vector<Statement>{{finish_settings, {}}}
                                                     : finish_statements(others, false);
  statements.insert(statements.begin() + 1, quick_statement(rows));
  return statements;
}

/// By the results of quick_statements().
std::vector<Written> Store::quickly_written(const std::vector<Finished>& rows,
                                            const std::vector<Rows>& results) const {
  std::vector<std::size_t> quick;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (is_quick(rows[i]) ? quick : others).push_back(i);
  }
  std::vector<Written> written(rows.size(), Written::refused);
  if (!quick.empty()) {
    for (std::size_t i = 0; i < results[1].size(); ++i) {
      written[quick.at(static_cast<std::size_t>(results[1].number(i, 0) - 1))] = Written::succeeded;
    }
  }
  if (!others.empty()) {
    const std::vector<Written> rest = carefully_written(results, others.size(), false);
    for (std::size_t i = 0; i < others.size(); ++i) {
      written[others[i]] = rest[i];
    }
  }
  return written;
}

DatabaseResult<std::vector<Written>> Store::finish_together(const std::vector<Finished>& rows,
                                                            bool plain) {
  auto results = run_again(database_, finish_statements(rows, plain));
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return carefully_written(*results, rows.size(), plain);
}

DatabaseResult<void> Store::begin_finish(const std::vector<Finished>& rows) {
  return database_.send_together(quick_statements(rows));
}

DatabaseResult<std::vector<Written>> Store::end_finish(const std::vector<Finished>& rows) {
  auto results = database_.take_together();
  if (results) {
    return quickly_written(rows, *results);
  }
  if (is_locked(results.error())) {
    return finish_unlocked(rows);
  }
  return gave_way(results.error()) || row_is_refused(results.error())
             ? finish_carefully(rows)
             : std::unexpected(std::move(results).error());
}

DatabaseResult<std::vector<Written>> Store::finish(const std::vector<Finished>& rows) {
  if (rows.empty()) {
    return std::vector<Written>{};
  }
  if (auto begun = begin_finish(rows); !begun) {
    return std::unexpected(std::move(begun).error());
  }
  return end_finish(rows);
}

DatabaseResult<std::vector<Written>> Store::finish_carefully(const std::vector<Finished>& rows) {
  auto written = finish_together(rows, false);
  if (!written && is_locked(written.error())) {
    return finish_unlocked(rows);
  }
  if (!written && row_is_refused(written.error())) {
    return finish_one_by_one(rows);
  }
  return written;
}

// Looked for first and written then, in two transactions: what is locked in between is found out
// one by one.
DatabaseResult<std::vector<Written>> Store::finish_unlocked(const std::vector<Finished>& rows) {
  std::vector<Written> all(rows.size(), Written::later);
  ClaimColumns columns;
  for (const Finished& row : rows) {
    columns.add(row);
  }
  auto looked = run_again(database_, {{finish_settings, {}}, {sql_.locked, columns.claims()}});
  if (!looked) {
    return is_locked(looked.error())
               ? DatabaseResult<std::vector<Written>>(std::move(all))  // the table is
               : std::unexpected(std::move(looked).error());
  }
  std::vector<bool> is_free(rows.size(), true);
  std::vector<Finished> locked;
  for (std::size_t i = 0; i < (*looked)[1].size(); ++i) {
    const auto n = static_cast<std::size_t>((*looked)[1].number(i, 0) - 1);
    is_free.at(n) = false;
    locked.push_back(rows[n]);
  }
  std::vector<Finished> free;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_free[i]) {
      free.push_back(rows[i]);
    }
  }
  if (!free.empty()) {
    auto written = finish_together(free, false);
    if (!written && (is_locked(written.error()) || row_is_refused(written.error()))) {
      written = finish_one_by_one(free);
    }
    if (!written) {
      return written;
    }
    for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
      if (is_free[i]) {
        all[i] = (*written)[next++];
      }
    }
  }
  if (auto written = write_successes(locked); !written) {
    return std::unexpected(std::move(written).error());
  }
  return all;
}

/// Into the ledger alone: whoever has the row when the lock is gone need not send it again.
DatabaseResult<void> Store::write_successes(const std::vector<Finished>& rows) {
  std::vector<Finished> succeeded;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(succeeded),
               [](const Finished& row) { return row.outcome.ending == Ending::succeeded; });
  if (succeeded.empty()) {
    return {};
  }
  std::vector<Statement> statements = finish_statements(succeeded, false);
  statements.resize(statements.size() - (leaves(false) ? 2 : 1));  // without what writes the rows
  const auto written = run_again(database_, statements);
  if (!written && !is_locked(written.error()) && !row_is_refused(written.error())) {
    return std::unexpected(written.error());
  }
  return {};
}

DatabaseResult<std::vector<bool>> Store::postpone(const std::vector<Postponed>& rows) {
  std::vector<bool> given(rows.size(), false);
  if (rows.empty()) {
    return given;
  }
  ClaimColumns columns;
  std::vector<std::int64_t> delays;
  std::vector<std::string> reasons;
  std::vector<std::string> messages;
  for (const Postponed& row : rows) {
    columns.add({.claim = row.claim});
    delays.push_back(row.delay ? std::clamp(*row.delay, Millis{0}, delay_max).count() : -1);
    reasons.push_back(clean_text(row.reason_code));
    messages.push_back(plain_text(std::string_view(row.message).substr(0, message_bytes_max)));
  }
  std::vector<Parameter> parameters = columns.claims();
  parameters.emplace_back(number_array(delays));
  parameters.emplace_back(text_array(reasons));
  parameters.emplace_back(text_array(messages));
  auto results =
      run_again(database_, {{plan_settings, {}}, {sql_.postpone, std::move(parameters)}});
  if (!results) {
    if (row_is_refused(results.error())) {
      given.assign(rows.size(), true);
      return given;
    }
    return std::unexpected(std::move(results).error());
  }
  const Rows& done = (*results)[1];
  for (std::size_t i = 0; i < done.size(); ++i) {
    given.at(static_cast<std::size_t>(done.number(i, 0) - 1)) = true;
  }
  return given;
}

DatabaseResult<std::vector<Written>> Store::finish_one_by_one(const std::vector<Finished>& rows) {
  constexpr int waits_max = 4;  // each of them takes its time
  int waits = 0;
  std::vector<Written> all;
  all.reserve(rows.size());
  for (const Finished& row : rows) {
    if (waits == waits_max) {
      all.push_back(Written::later);
      continue;
    }
    auto written = finish_together({row}, false);
    if (!written && row_is_refused(written.error())) {
      written = finish_together({row}, true);
    }
    if (written) {
      all.push_back(written->front());
    } else if (is_locked(written.error())) {
      all.push_back(Written::later);
      ++waits;
    } else if (row_is_refused(written.error())) {
      all.push_back(Written::unwritten);
    } else {
      return std::unexpected(std::move(written).error());
    }
  }
  return all;
}

}  // namespace hk::outbox
