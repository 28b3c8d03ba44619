#include "outbox/table.h"

#include <cstdint>

#include "base/encoding.h"
#include "outbox/sql_text.h"

namespace hk::outbox {
namespace {

/// Names of PostgreSQL have at most 63 bytes; what is built on the base has a suffix of up to 15.
constexpr std::size_t base_bytes_max = 46;

std::string short_hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<char>((hash >> shift) & 0xffU));
  }
  return hex(bytes);
}

std::string qualified(const std::string& schema, const std::string& name) {
  return schema.empty() ? quoted_identifier(name)
                        : quoted_identifier(schema) + "." + quoted_identifier(name);
}

}  // namespace

std::string quoted_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') {
      out.push_back('"');
    }
    out.push_back(c);
  }
  return out + "\"";
}

std::string Table::outbox_name() const { return qualified(schema, outbox); }
std::string Table::ledger_name() const { return qualified(schema, ledger); }

// The schema is no part of it: a relay that finds the table by its search path and an `init` that
// was told the schema must agree. Two tables of one name wake each other's relays, which costs a
// look.
std::string Table::channel() const {
  std::string base = outbox.starts_with("hikyaku") ? outbox : "hikyaku_" + outbox;
  if (base.size() > base_bytes_max) {
    std::size_t end = base_bytes_max - 9;
    while (end > 0 && (static_cast<unsigned char>(base[end]) & 0xc0U) == 0x80U) {
      --end;  // not within a character
    }
    base = base.substr(0, end) + "_" + short_hash(outbox);
  }
  return base;
}

Result<void> map_column(Table& table, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const auto complain = [&](const std::string& what) {
    std::string names;
    for (const ColumnName& column : column_names()) {
      names += (names.empty() ? "" : ", ") + std::string(column.name);
    }
    return fail(ErrorKind::invalid_argument,
                "the mapping \"" + std::string(assignment) + "\" " + what +
                    ": expected name=column with one of the names " + names);
  };
  if (equals == std::string_view::npos) {
    return complain("has no \"=\"");
  }
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view value = assignment.substr(equals + 1);
  for (const ColumnName& column : column_names()) {
    if (column.name != name) {
      continue;
    }
    if (value.empty() && !column.optional) {
      return complain("leaves out a column that the relay needs");
    }
    if (value.size() > 63 || value.find('\0') != std::string_view::npos) {
      return complain("has a value that is not a PostgreSQL name (1 to 63 bytes)");
    }
    column.of(table) = value;
    return {};
  }
  return complain("names an unknown column");
}

}  // namespace hk::outbox
