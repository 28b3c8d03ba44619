#include "outbox/relay_log.h"

#include <unistd.h>

#include <algorithm>

#include "base/encoding.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "security/credentials.h"
#include "security/digest.h"

namespace hk::outbox {
namespace {

using observe::Level;

constexpr std::size_t hash_digits = 16;

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  security::fill_random(raw.data(), raw.size());
  return hex(raw);
}

std::string hash_of(std::string_view key) {
  const auto digest = security::sha256(key);
  return hex({reinterpret_cast<const char*>(digest.data()), digest.size()}).substr(0, hash_digits);
}

std::string_view name_of(Written written) {
  switch (written) {
    case Written::succeeded: return "succeeded";
    case Written::failed: return "failed";
    case Written::aborted: return "aborted";
    case Written::refused: return "refused";
    case Written::unwritten: return "unwritten";
    case Written::later: return "later";
    case Written::postponed: return "postponed";
  }
  return "";
}

/// An abort is for a person to look at; a failure we cope with by ourselves.
Level level_of(Written written) {
  switch (written) {
    case Written::succeeded:
    case Written::postponed: return Level::debug;
    case Written::refused:
    case Written::later: return Level::info;
    case Written::failed: return Level::warn;
    case Written::aborted:
    case Written::unwritten: return Level::error;
  }
  return Level::error;
}

bool counts_attempt(Written written) {
  return written != Written::refused && written != Written::postponed;
}

std::string_view word(Chore chore) {
  return chore == Chore::counting ? "counting rows" : "deleting finished rows";
}

std::int64_t wall_ms() {
  return std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string unique_worker_name(const std::string& given) {
  std::string name = given;
  if (name.empty()) {
    std::array<char, 65> host{};
    ::gethostname(host.data(), host.size() - 1);
    name = std::string(host.data()) + ":" + std::to_string(::getpid());
  }
  return name + ":" + random_hex(4);
}

RelayLog::RelayLog(const Settings& settings, std::string_view adapter, observe::SpanExporter* spans)
    : worker_(settings.worker_name),
      table_(settings.table.outbox),
      adapter_(adapter),
      spans_(spans) {}

void RelayLog::started() const {
  observe::log(Level::info, "outbox.started",
               {{"worker", worker_}, {"table", table_}, {"adapter", adapter_}});
}

void RelayLog::stopped() const {
  observe::log(Level::info, "outbox.stopped", {{"worker", worker_}});
}

void RelayLog::database_away(const DatabaseError& error, std::string_view doing) {
  // The words change while a server goes down and comes up; the outage is one.
  if (database_said_ == error.error.kind) {
    return;
  }
  database_said_ = error.error.kind;
  const bool passes = error.error.kind == ErrorKind::unavailable;
  observe::log(passes ? Level::warn : Level::error,
               passes ? "outbox.database_unavailable" : "outbox.database_refused",
               {{"doing", doing},
                {"error", error.error.message},
                {"sqlstate", error.sqlstate},
                {"next", "tried again until it works; nothing is lost meanwhile"}});
}

void RelayLog::database_back() {
  if (database_said_) {
    database_said_.reset();
    observe::log(Level::info, "outbox.database_back", {{"worker", worker_}});
  }
}

void RelayLog::housekeeping_failed(Chore chore, const DatabaseError& error) {
  std::optional<ErrorKind>& said = chores_said_.at(static_cast<std::size_t>(chore));
  if (said == error.error.kind) {
    return;
  }
  said = error.error.kind;
  observe::log(error.error.kind == ErrorKind::unavailable ? Level::warn : Level::error,
               "outbox.housekeeping_failed",
               {{"doing", word(chore)},
                {"error", error.error.message},
                {"sqlstate", error.sqlstate},
                {"next", "tried again later; rows are sent all the same"}});
}

void RelayLog::housekeeping_works(Chore chore) {
  std::optional<ErrorKind>& said = chores_said_.at(static_cast<std::size_t>(chore));
  if (said) {
    said.reset();
    observe::log(Level::info, "outbox.housekeeping_works", {{"doing", word(chore)}});
  }
}

void RelayLog::source_away(const Error& error) {
  if (source_said_ == error.kind) {
    return;
  }
  source_said_ = error.kind;
  observe::log(error.kind == ErrorKind::unavailable ? Level::warn : Level::error,
               "outbox.source_unavailable",
               {{"error", error.message}, {"next", "the table is polled until it works"}});
}

void RelayLog::source_back() {
  if (source_said_) {
    source_said_.reset();
    observe::log(Level::info, "outbox.source_back", {{"worker", worker_}});
  }
}

void RelayLog::broker_away(const std::string& broker, const Outcome& outcome) const {
  observe::log(Level::warn, "outbox.broker_unavailable",
               {{"broker", broker},
                {"adapter", adapter_},
                {"reason_code", outcome.reason_code},
                {"http_status", outcome.http_status},
                {"error", outcome.message},
                {"next", "tried again until it works; rows wait, and no attempt is counted"}});
}

void RelayLog::broker_back(const std::string& broker, Millis away) const {
  observe::log(Level::info, "outbox.broker_back",
               {{"broker", broker}, {"adapter", adapter_}, {"away_ms", away.count()}});
}

void RelayLog::leases_lost(std::size_t rows) const {
  if (rows != 0) {
    observe::log(
        Level::warn, "outbox.leases_lost",
        {{"rows", rows},
         {"meaning", "another relay or a person took them: those on their way may be sent twice"}});
  }
}

void RelayLog::not_begun(std::size_t rows) const {
  if (rows != 0) {
    observe::log(Level::info, "outbox.not_begun",
                 {{"rows", rows},
                  {"meaning", "their leases were lost before their turn came: not sent by us"}});
  }
}

void RelayLog::rows_locked(std::size_t rows) {
  if (rows != 0 && !locked_said_) {
    observe::log(
        Level::warn, "outbox.rows_locked",
        {{"rows", rows},
         {"meaning", "an open transaction has locked rows whose outcomes are to be written"},
         {"next", "they are written when it ends; others are not held up"}});
  }
  locked_said_ = rows != 0;
}

void RelayLog::taken_over(std::size_t rows) const {
  observe::log(Level::warn, "outbox.leases_expired",
               {{"rows", rows}, {"meaning", "their relay is gone; they are sent again"}});
}

void RelayLog::cut_off(std::size_t rows) const {
  if (rows != 0) {
    observe::log(
        Level::warn, "outbox.cut_off",
        {{"rows", rows},
         {"meaning", "still on their way when the relay had to end: they are sent again"}});
  }
}

ProcessSpan RelayLog::begin_span(Row& row) const {
  ProcessSpan span;
  if (spans_ == nullptr) {
    return span;
  }
  if (const auto parent = observe::parse_traceparent(row.traceparent)) {
    if ((parent->flags & 1U) == 0) {
      return span;  // whoever began the trace does not want it
    }
    span.trace_id = parent->trace_id;
    span.parent_span_id = parent->span_id;
  } else {
    security::fill_random(span.trace_id.data(), span.trace_id.size());
  }
  security::fill_random(span.span_id.data(), span.span_id.size());
  span.start_ms = wall_ms();
  row.traceparent = observe::format_traceparent({span.trace_id, span.span_id, 1});
  return span;
}

void RelayLog::processed(const Finished& row, Written written, const ProcessSpan& span,
                         std::chrono::steady_clock::duration took) const {
  const Level level = level_of(written);
  const bool good = written == Written::succeeded;
  if (observe::log_enabled(level)) {
    observe::log(
        level, "outbox.processed",
        {{"idempotency_key_hash", row.idempotency_key.empty() ? "" : hash_of(row.idempotency_key)},
         {"outbox_id", row.claim.id},
         {"status", name_of(written)},
         {"attempts", row.claim.attempts + (counts_attempt(written) ? 1 : 0)},
         {"reason_code", row.outcome.reason_code},
         {"error", row.outcome.message},
         {"adapter", adapter_},
         {"latency_ms", std::chrono::duration<double, std::milli>(took).count()}});
  }
  if (span.start_ms == 0) {
    return;
  }
  spans_->record({.trace_id = span.trace_id,
                  .span_id = span.span_id,
                  .parent_span_id = span.parent_span_id,
                  .name = "outbox.process",
                  .start_ms = span.start_ms,
                  .end_ms = wall_ms(),
                  .error = !good,
                  .error_text = good ? "" : row.outcome.message,
                  .attributes = {{"outbox.id", std::to_string(row.claim.id)},
                                 {"outbox.status", std::string(name_of(written))},
                                 {"outbox.reason_code", row.outcome.reason_code}},
                  .kind = observe::SpanKind::internal});
}

}  // namespace hk::outbox
