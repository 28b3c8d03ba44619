/// A table made by init in a database of the test's own, and what a relay would use on it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "integration/outbox/postgres.h"
#include "outbox/operator.h"
#include "outbox/schema.h"
#include "outbox/store.h"

namespace hk::outbox::test {

template <class R>
auto value(R result) {
  if (!result) {
    if constexpr (requires { result.error().sqlstate; }) {
      throw std::runtime_error(result.error().sqlstate + " " + result.error().error.message);
    } else {
      throw std::runtime_error(result.error().message);
    }
  }
  if constexpr (!std::is_void_v<typename R::value_type>) {
    return std::move(*result);
  }
}

struct Relay {
  Database database;
  Shape shape;
  Store store;

  Relay(const Secret& where, const Settings& settings)
      : database(connect(where)),
        shape(value(check_schema(database, settings.table))),
        store(database, settings, shape) {}

  std::vector<Claimed> claim(std::size_t n = 100) { return value(store.claim(n)); }
  std::vector<Written> finish(const std::vector<Finished>& rows) {
    return value(store.finish(rows));
  }
  /// With many sessions on few cores, whoever passes a row on the way to others may have it locked
  /// for longer than an outcome waits: it is said again, as a relay does.
  std::vector<Written> finish_at_last(const std::vector<Finished>& rows) {
    std::vector<Written> written = finish(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      while (written[i] == Written::later) {
        written[i] = finish({rows[i]})[0];
      }
    }
    return written;
  }
  Written finish(const Claimed& row, const Outcome& outcome) {
    return finish({{row.row.claim, row.row.idempotency_key, row.row.request_digest, outcome}})[0];
  }
};

inline Outcome succeeded(std::string response = "") {
  Outcome outcome;
  outcome.ending = Ending::succeeded;
  outcome.http_status = 200;
  outcome.response = std::move(response);
  return outcome;
}

inline Outcome failed(std::string reason = "BROKER_TIMEOUT", int http_status = 504) {
  Outcome outcome;
  outcome.ending = Ending::failed;
  outcome.reason_code = std::move(reason);
  outcome.message = "for a person";
  outcome.http_status = http_status;
  return outcome;
}

inline Outcome aborted(std::string reason = "PAYLOAD_INVALID") {
  Outcome outcome = failed(std::move(reason), 400);
  outcome.ending = Ending::aborted;
  return outcome;
}

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() : where(Postgres::instance().fresh_database()), database(connect(where)) {
    settings.worker_name = "host:1";
  }

  void init(const InitOptions& options = {}) {
    value(init_schema(database, settings.table, options));
  }
  Relay relay() { return {where, settings}; }
  Relay relay(const std::string& name) {
    Settings other = settings;
    other.worker_name = name;
    return {where, other};
  }

  void enqueue(const std::string& key, const std::string& payload = "{\"n\": 1}") {
    run(database, "SELECT hikyaku_enqueue($1::text, $2::text::jsonb)", {key, payload});
  }
  /// `status attempts last_error_code` of the row, and `status http_status` of the ledger.
  std::string row(const std::string& key) {
    const Rows rows = run(database,
                          "SELECT concat_ws(' ', status, attempts, last_error_code) "
                          "FROM hikyaku_outbox WHERE idempotency_key = $1::text",
                          {key});
    return rows.size() == 0 ? "none" : std::string(rows.text(0, 0));
  }
  std::string ledger(const std::string& key) {
    const Rows rows = run(database,
                          "SELECT concat_ws(' ', status, http_status, reason_code) "
                          "FROM hikyaku_ledger WHERE idempotency_key = $1::text",
                          {key});
    return rows.size() == 0 ? "none" : std::string(rows.text(0, 0));
  }
  void due_now() { run(database, "UPDATE hikyaku_outbox SET next_run_at = now()"); }
  void age_leases() {
    run(database,
        "UPDATE hikyaku_outbox SET locked_at = now() - interval '1 hour' WHERE status = 'sending'");
  }

  Settings settings{};
  Secret where;
  Database database;
};

}  // namespace hk::outbox::test
