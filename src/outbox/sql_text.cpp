#include "outbox/sql_text.h"

#include <array>

#include "base/assert.h"

namespace hk::outbox {
namespace {

using O = OutboxColumns;
using L = LedgerColumns;

constexpr std::array names = {
    ColumnName{"id", false, &O::id},
    ColumnName{"idempotency_key", false, &O::idempotency_key},
    ColumnName{"payload", false, &O::payload},
    ColumnName{"request_digest", false, &O::request_digest},
    ColumnName{"destination", true, &O::destination},
    ColumnName{"headers", true, &O::headers},
    ColumnName{"order_key", true, &O::order_key},
    ColumnName{"traceparent", true, &O::traceparent},
    ColumnName{"status", false, &O::status},
    ColumnName{"attempts", false, &O::attempts},
    ColumnName{"next_run_at", false, &O::next_run_at},
    ColumnName{"last_error_code", false, &O::last_error_code},
    ColumnName{"last_error_msg", false, &O::last_error_msg},
    ColumnName{"locked_by", false, &O::locked_by},
    ColumnName{"locked_at", false, &O::locked_at},
    ColumnName{"created_at", false, &O::created_at},
    ColumnName{"updated_at", false, &O::updated_at},
    ColumnName{"expires_at", true, &O::expires_at},
    ColumnName{"ledger.idempotency_key", false, nullptr, &L::idempotency_key},
    ColumnName{"ledger.request_digest", false, nullptr, &L::request_digest},
    ColumnName{"ledger.status", false, nullptr, &L::status},
    ColumnName{"ledger.http_status", false, nullptr, &L::http_status},
    ColumnName{"ledger.response_payload", false, nullptr, &L::response_payload},
    ColumnName{"ledger.reason_code", true, nullptr, &L::reason_code},
    ColumnName{"ledger.created_at", false, nullptr, &L::created_at},
    ColumnName{"ledger.updated_at", false, nullptr, &L::updated_at},
};

const std::string& column(const Table& table, std::string_view name) {
  const bool of_ledger = name.starts_with("l.");
  for (const ColumnName& one : names) {
    if (of_ledger ? one.name.starts_with("ledger.") && one.name.substr(7) == name.substr(2)
                  : one.name == name) {
      return one.of(table);
    }
  }
  HK_ASSERT(!"a statement names a column that there is not");
  return table.outbox;
}

std::string replacement(const Table& table, std::string_view name, const Replacements& others) {
  for (const auto& [other, text] : others) {
    if (other == name) {
      return text;
    }
  }
  if (name == "outbox") {
    return table.outbox_name();
  }
  if (name == "ledger") {
    return table.ledger_name();
  }
  if (name.starts_with('?')) {
    const std::string& found = column(table, name.substr(1));
    return found.empty() ? "NULL::text" : "o." + quoted_identifier(found);
  }
  return quoted_identifier(column(table, name));
}

}  // namespace

std::span<const ColumnName> column_names() { return names; }

std::string sql_text(const Table& table, std::string_view text, const Replacements& others) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('{');
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) {
      return out;
    }
    const std::size_t close = text.find('}', open);
    HK_ASSERT(close != std::string_view::npos);
    out += replacement(table, text.substr(open + 1, close - open - 1), others);
    text.remove_prefix(close + 1);
  }
}

std::string quoted_literal(std::string_view text) {
  std::string out = text.find('\\') == std::string_view::npos ? "'" : "E'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      out.push_back(c);
    }
    out.push_back(c);
  }
  return out + "'";
}

}  // namespace hk::outbox
