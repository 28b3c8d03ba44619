/// `hikyaku outbox init` and the check at a relay's start. init makes the tables or adopts existing
/// ones, adds what is missing and nothing else, and may be run again at any time, also by several
/// at once. The caller's thread; a connection of its own (not through a transaction pooler).
#pragma once

#include <string>
#include <vector>

#include "outbox/database.h"
#include "outbox/table.h"

namespace hk::outbox {

struct InitOptions {
  bool print = false;  ///< say the SQL and change nothing
  bool notify = true;  ///< the trigger that wakes relays
  bool publication = false;
  std::string enqueue_function{"hikyaku_enqueue"};  ///< in the table's schema
  std::string payload_type{"jsonb"};            ///< of a table that is made: jsonb json text bytea
  Millis wait_for_others{60'000};               ///< for another init of the same database
  Millis step_timeout{std::chrono::hours{12}};  ///< an index on a large table takes its time
};

struct SchemaReport {
  std::vector<std::string> done{};  ///< one line for each thing that was made; empty: all was there
  std::string sql{};                ///< of all that; with `print` it was not run
};

/// invalid_argument: the table cannot be adopted (says what is wrong), or the options clash.
/// conflict: another init holds the lock, or existing rows repeat an idempotency key.
Result<SchemaReport> init_schema(Database& database, const Table& table,
                                 const InitOptions& options = {});

enum class PayloadType : std::uint8_t { jsonb, json, text, bytea };

/// What a relay must know of the columns' types.
struct Shape {
  PayloadType payload = PayloadType::jsonb;
  std::string status_type{"text"};         ///< text, or an enum of the user's
  std::string ledger_status_type{"text"};  ///< the same of the ledger
  std::string response_type{"jsonb"};      ///< of the ledger's response: jsonb, json, text
};

/// not_found names every table, column and index that is missing, and what mends it.
DatabaseResult<Shape> check_schema(Database& database, const Table& table);

}  // namespace hk::outbox
