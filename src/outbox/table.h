/// The names of an outbox table, its ledger and their columns. A table of the user's own is adopted
/// by mapping its names. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hk::outbox {

/// Column names as they are in the database. Those marked optional may be "": the table has none.
struct OutboxColumns {
  std::string id{"id"};  ///< bigint or integer
  std::string idempotency_key{"idempotency_key"};
  std::string payload{"payload"};  ///< jsonb, json, text or bytea
  std::string request_digest{"request_digest"};
  std::string destination{"destination"};  ///< optional
  std::string headers{"headers"};          ///< optional; a JSON object of strings
  std::string order_key{"order_key"};      ///< optional; strict order needs it
  std::string traceparent{"traceparent"};  ///< optional
  std::string status{"status"};
  std::string attempts{"attempts"};
  std::string next_run_at{"next_run_at"};
  std::string last_error_code{"last_error_code"};
  std::string last_error_msg{"last_error_msg"};
  std::string locked_by{"locked_by"};
  std::string locked_at{"locked_at"};
  std::string created_at{"created_at"};
  std::string updated_at{"updated_at"};
  std::string expires_at{"expires_at"};  ///< optional; a row past it is aborted instead of sent
};

struct LedgerColumns {
  std::string idempotency_key{"idempotency_key"};
  std::string request_digest{"request_digest"};
  std::string status{"status"};
  std::string http_status{"http_status"};
  std::string response_payload{"response_payload_json"};
  std::string reason_code{"reason_code"};  ///< optional
  std::string created_at{"created_at"};
  std::string updated_at{"updated_at"};
};

struct Table {
  std::string schema{};  ///< "": found by the search path
  std::string outbox{"hikyaku_outbox"};
  std::string ledger{"hikyaku_ledger"};
  OutboxColumns outbox_columns{};
  LedgerColumns ledger_columns{};
  bool strict_order = false;      ///< per order key
  bool delete_succeeded = false;  ///< a row leaves the table when it succeeds; its entry stays

  /// Quoted, with the schema: to be put into SQL as it is.
  [[nodiscard]] std::string outbox_name() const;
  [[nodiscard]] std::string ledger_name() const;
  /// The channel that inserts notify, and the base of the names of indexes, triggers, publication.
  [[nodiscard]] std::string channel() const;
};

/// `"name"`, quotes doubled.
std::string quoted_identifier(std::string_view name);

/// Applies `payload=order_request_json` and `ledger.status=state`; an optional column without a
/// value (`destination=`) is one that the table does not have. invalid_argument says which names
/// there are.
Result<void> map_column(Table& table, std::string_view assignment);

}  // namespace hk::outbox
