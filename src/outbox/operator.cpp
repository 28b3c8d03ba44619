#include "outbox/operator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "outbox/operator_sql.h"
#include "outbox/sql_text.h"
#include "outbox/texts.h"
#include "outbox/transaction.h"

namespace hk::outbox {
namespace {

constexpr std::int64_t page_rows = 1'000;
constexpr std::int64_t aborted_http_status = 499;
constexpr const char* aborted_reason = "ABORTED_BY_OPERATOR";

struct Listed {
  enum Column : int {
    id,
    key,
    row_status,
    attempts,
    destination,
    order_key,
    created,
    updated,
    next_run,
    locked_by,
    locked,
    error_code,
    error_msg,
    digest,
    headers,
    payload_bytes,
    payload,
    has_ledger,
    ledger_digest,
    ledger_status,
    ledger_http,
    ledger_reason,
    ledger_response,
    ledger_updated,
  };
};

std::optional<Moment> moment(const Rows& rows, std::size_t i, int column) {
  return rows.is_null(i, column) ? std::optional<Moment>{} : moment_from_ms(rows.number(i, column));
}

Summary summary_of(const Rows& rows, std::size_t i) {
  Summary one;
  one.id = rows.number(i, Listed::id);
  one.idempotency_key = rows.text(i, Listed::key);
  one.status = rows.text(i, Listed::row_status);
  one.attempts = static_cast<std::int32_t>(rows.number(i, Listed::attempts));
  one.destination = rows.text(i, Listed::destination);
  one.order_key = rows.text(i, Listed::order_key);
  one.created_at = moment(rows, i, Listed::created);
  one.updated_at = moment(rows, i, Listed::updated);
  one.next_run_at = moment(rows, i, Listed::next_run);
  one.locked_by = rows.text(i, Listed::locked_by);
  one.locked_at = moment(rows, i, Listed::locked);
  one.last_error_code = rows.text(i, Listed::error_code);
  one.last_error_msg = rows.text(i, Listed::error_msg);
  return one;
}

Detail detail_of(const Rows& rows, bool with_payload) {
  Detail detail;
  detail.row = summary_of(rows, 0);
  detail.request_digest = rows.text(0, Listed::digest);
  detail.headers = rows.text(0, Listed::headers);
  if (!rows.is_null(0, Listed::payload_bytes)) {
    detail.payload_bytes = rows.number(0, Listed::payload_bytes);
  }
  if (with_payload && detail.payload_bytes) {
    detail.payload = std::string(rows.text(0, Listed::payload));
  }
  if (rows.flag(0, Listed::has_ledger)) {
    LedgerEntry entry;
    entry.request_digest = rows.text(0, Listed::ledger_digest);
    entry.status = rows.text(0, Listed::ledger_status);
    if (!rows.is_null(0, Listed::ledger_http)) {
      entry.http_status = static_cast<int>(rows.number(0, Listed::ledger_http));
    }
    entry.reason_code = rows.text(0, Listed::ledger_reason);
    entry.response = rows.text(0, Listed::ledger_response);
    entry.updated_at = moment(rows, 0, Listed::ledger_updated);
    detail.ledger = std::move(entry);
  }
  return detail;
}

std::string why_not(std::string_view status) {
  if (status == "sending") {
    return "a relay is sending it (its lease has not expired): wait, or use --force";
  }
  return "it is " + std::string(status);
}

/// Of the ids that were asked for: which were changed, and why the others were not.
Changed changed_of(const std::vector<std::int64_t>& ids, const Rows& before, const Rows& done) {
  Changed changed;
  changed.count = done.size();
  for (const std::int64_t one : ids) {
    bool found = false;
    for (std::size_t i = 0; i < done.size() && !found; ++i) {
      found = done.number(i, 0) == one;
    }
    if (found) {
      continue;
    }
    std::string why = "row not found";
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before.number(i, 0) == one) {
        why = why_not(before.text(i, 1));
      }
    }
    changed.refused.push_back({one, std::move(why)});
  }
  return changed;
}

DatabaseError refused(std::string message) {
  return {Error{ErrorKind::invalid_argument, std::move(message)}, ""};
}

}  // namespace

Operator::Operator(Database& database, const Settings& settings, const Shape& shape)
    : database_(database), settings_(settings), shape_(shape), channel_(settings.table.channel()) {}

/// In the transaction that changes the rows: relays of either kind of source hear of it at its
/// commit.
Statement Operator::wake() const {
  return {"SELECT pg_notify($1::text, ''), pg_logical_emit_message(true, $1::text, ''::text)",
          {channel_}};
}

DatabaseResult<StatusReport> Operator::status() {
  auto counts = Store(database_, settings_, shape_).counts();
  if (!counts) {
    return std::unexpected(std::move(counts).error());
  }
  const auto lease = static_cast<std::int64_t>(settings_.lock_lease.count());
  const std::string expired = sql_text(settings_.table, operator_sql::expired);
  const std::string holders = sql_text(settings_.table, operator_sql::holders);
  const std::string all_rows =
      sql_text(settings_.table, operator_sql::all_rows,
               {{"is_other", sql_text(settings_.table, operator_sql::is_other)}});
  const std::string postponed = sql_text(settings_.table, operator_sql::postponed);
  auto results =
      database_.run_together({{expired, {lease}}, {holders, {}}, {all_rows, {}}, {postponed, {}}});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  StatusReport report;
  report.counts = *counts;
  report.leases_expired = (*results)[0].number(0, 0);
  report.succeeded = (*results)[2].number(0, 0);
  report.other = (*results)[2].number(0, 1);
  if (const Rows& waits = (*results)[3]; waits.size() != 0) {
    report.postponed = {waits.number(0, 0), std::string(waits.text(0, 1)),
                        std::string(waits.text(0, 2)), Millis{waits.number(0, 3)}};
  }
  const Rows& rows = (*results)[1];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Holder holder{std::string(rows.text(i, 0)), rows.number(i, 1), {}};
    if (!rows.is_null(i, 2)) {
      holder.oldest_heartbeat = Millis{rows.number(i, 2)};
    }
    report.holders.push_back(std::move(holder));
  }
  return report;
}

DatabaseResult<std::vector<Summary>> Operator::list(const ListQuery& query) {
  constexpr std::string_view known[] = {"",       "pending", "sending", "succeeded",
                                        "failed", "aborted", "other"};
  if (std::find(std::begin(known), std::end(known), query.status) == std::end(known)) {
    return std::unexpected(
        refused("the status \"" + query.status +
                "\" must be pending, sending, succeeded, failed, aborted or other"));
  }
  // As a literal, so that the partial indexes can serve it.
  const Table& table = settings_.table;
  const std::string only =
      query.status.empty() ? ""
      : query.status == "other"
          ? "AND " + sql_text(table, operator_sql::is_other)
          : sql_text(table, "AND o.{status} = ") + quoted_literal(query.status);
  auto rows = database_.run(
      sql_text(
          settings_.table, operator_sql::list,
          {{"summary", sql_text(settings_.table, operator_sql::summary_columns)}, {"only", only}}),
      {query.after, static_cast<std::int64_t>(std::min<std::size_t>(query.limit, 1'000))});
  if (!rows) {
    return std::unexpected(std::move(rows).error());
  }
  std::vector<Summary> all;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    all.push_back(summary_of(*rows, i));
  }
  return all;
}

DatabaseResult<std::optional<Detail>> Operator::show_where(const std::string& where,
                                                           Parameter value, bool with_payload) {
  const Table& table = settings_.table;
  const bool bytes = shape_.payload == PayloadType::bytea;
  const std::string text =
      sql_text(table, bytes ? "encode(o.{payload}, 'hex')" : "o.{payload}::text");
  const std::string sql =
      sql_text(table, operator_sql::show,
               {{"summary", sql_text(table, operator_sql::summary_columns)},
                {"payload_text", bytes ? sql_text(table, "o.{payload}") : text},
                {"payload_out", with_payload ? text : "NULL"},
                {"reason", table.ledger_columns.reason_code.empty()
                               ? "''"
                               : sql_text(table, "COALESCE(l.{l.reason_code}, '')")},
                {"where", where}});
  auto rows = database_.run(sql, {std::move(value)});
  if (!rows) {
    return std::unexpected(std::move(rows).error());
  }
  return rows->size() == 0 ? std::optional<Detail>{} : detail_of(*rows, with_payload);
}

DatabaseResult<std::optional<Detail>> Operator::show(std::int64_t row, bool with_payload) {
  return show_where(sql_text(settings_.table, "o.{id} = $1::bigint"), row, with_payload);
}

DatabaseResult<std::optional<Detail>> Operator::show(const std::string& idempotency_key,
                                                     bool with_payload) {
  return show_where(sql_text(settings_.table, "o.{idempotency_key} = $1::text"), idempotency_key,
                    with_payload);
}

/// Rows by their ids: locked first, in one order, so that how they were and what was done agree.
DatabaseResult<Changed> Operator::change(const std::string& sql, const Selection& selection) {
  const std::string ids = number_array(selection.ids);
  const auto lease = static_cast<std::int64_t>(settings_.lock_lease.count());
  const std::string lock = sql_text(settings_.table, operator_sql::lock);
  const std::string statuses = sql_text(settings_.table, operator_sql::statuses);
  auto results = run_again(
      database_,
      {{lock, {ids}}, {statuses, {ids}}, {sql, {ids, selection.force ? "t" : "f", lease}}, wake()});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return changed_of(selection.ids, (*results)[1], (*results)[2]);
}

DatabaseResult<Changed> Operator::change_all(const std::string& sql,
                                             const std::string& reason_code) {
  auto started = database_.run("SELECT now()::text");
  if (!started) {
    return std::unexpected(std::move(started).error());
  }
  const std::string before(started->text(0, 0));
  Changed changed;
  std::int64_t after = std::numeric_limits<std::int64_t>::min();
  while (true) {
    auto results = run_again(database_, {{sql, {after, page_rows, before, reason_code}}, wake()});
    if (!results) {
      return std::unexpected(std::move(results).error());
    }
    const Rows& rows = results->front();
    if (rows.size() == 0) {
      return changed;
    }
    changed.count += rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      after = std::max(after, rows.number(i, 0));
    }
  }
}

DatabaseResult<Changed> Operator::requeue(const Selection& selection) {
  const Table& table = settings_.table;
  const std::string set = sql_text(table, operator_sql::set_anew);
  if (selection.all) {
    return change_all(sql_text(table, operator_sql::requeue_all, {{"set", set}}),
                      selection.reason_code);
  }
  return change(sql_text(table, operator_sql::requeue,
                         {{"set", set}, {"not_held", sql_text(table, operator_sql::not_held)}}),
                selection);
}

DatabaseResult<Changed> Operator::release(const Selection& selection) {
  const Table& table = settings_.table;
  const std::string set = sql_text(table, operator_sql::set_pending);
  if (!selection.all) {
    return change(sql_text(table, operator_sql::release,
                           {{"set", set}, {"not_held", sql_text(table, operator_sql::not_held)}}),
                  selection);
  }
  const std::string sql = sql_text(table, operator_sql::release_all, {{"set", set}});
  auto results = run_again(
      database_,
      {{sql,
        {static_cast<std::int64_t>(settings_.lock_lease.count()), selection.force ? "t" : "f"}},
       wake()});
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return Changed{results->front().affected(), {}};
}

DatabaseResult<Changed> Operator::abort(const Selection& selection, const std::string& message) {
  if (selection.all) {
    return std::unexpected(refused("abort takes the ids of rows, not all of them"));
  }
  const Table& table = settings_.table;
  const bool has_reason = !table.ledger_columns.reason_code.empty();
  const std::string not_held = sql_text(table, operator_sql::not_held);
  const std::string agrees =
      sql_text(table, operator_sql::agrees,
               {{"is_same", is_same(table, sql_text(table, "o.{request_digest}"))}});
  const std::string write_ledger = sql_text(
      table, operator_sql::abort_ledger,
      {{"not_held", not_held},
       {"ledger_status_type", shape_.ledger_status_type},
       {"reason_column", has_reason ? sql_text(table, "{l.reason_code}, ") : ""},
       {"reason_value", has_reason ? "$5::text, " : ""},
       {"reason_set",
        has_reason ? sql_text(table, "{l.reason_code} = excluded.{l.reason_code},") : ""},
       {"may_be_same", may_be_same(table, sql_text(table, "excluded.{l.request_digest}"))}});
  const std::string write_outbox =
      sql_text(table, operator_sql::abort_outbox,
               {{"not_held", not_held}, {"agrees", agrees}, {"status_type", shape_.status_type}});
  const std::string lock = sql_text(table, operator_sql::lock);
  const std::string statuses = sql_text(table, operator_sql::statuses);

  const std::string ids = number_array(selection.ids);
  const char* force = selection.force ? "t" : "f";
  const auto lease = static_cast<std::int64_t>(settings_.lock_lease.count());
  std::vector<Parameter> ledger_parameters{ids, force, lease, aborted_http_status};
  if (has_reason) {
    ledger_parameters.emplace_back(aborted_reason);
  }
  auto results = run_again(
      database_, {{lock, {ids}},
                  {statuses, {ids}},
                  {write_ledger, std::move(ledger_parameters)},
                  {write_outbox, {ids, force, lease, aborted_reason, clean_text(message)}},
                  wake()});  // rows of the same order key may have waited behind it
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  return changed_of(selection.ids, (*results)[1], (*results)[3]);
}

}  // namespace hk::outbox
