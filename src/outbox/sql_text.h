/// SQL with the names of a table put in: statements are written once with `{status}` and
/// `{l.status}` where a mapped column goes. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outbox/table.h"

namespace hk::outbox {

/// A column by the name that the mapping gives it: `payload`, or `ledger.status` for the ledger's.
struct ColumnName {
  std::string_view name{};
  bool optional = false;
  std::string OutboxColumns::*outbox = nullptr;
  std::string LedgerColumns::*ledger = nullptr;

  [[nodiscard]] std::string& of(Table& table) const {
    return outbox != nullptr ? table.outbox_columns.*outbox : table.ledger_columns.*ledger;
  }
  [[nodiscard]] const std::string& of(const Table& table) const {
    return outbox != nullptr ? table.outbox_columns.*outbox : table.ledger_columns.*ledger;
  }
};
std::span<const ColumnName> column_names();

using Replacements = std::vector<std::pair<std::string_view, std::string>>;

/// Replaces `{outbox}`, `{ledger}`, `{column}`, `{l.column}` by quoted names and `{other}` by what
/// `others` says, as it is. `{?column}` is `o."column"`, or a null text where the table has none.
/// REQUIRES: every name between braces is one of these.
std::string sql_text(const Table& table, std::string_view text, const Replacements& others = {});

/// `'text'` as a literal, quotes doubled. The text may hold backslashes.
std::string quoted_literal(std::string_view text);

}  // namespace hk::outbox
