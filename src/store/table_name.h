/// Names of tables and bytes of keys, for people: messages of errors, column families, reports.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/table.h"
#include "store/store.h"

namespace hk::store {

/// The table of a kind of record.
template <class R>
inline constexpr Table table_of{};
#define HK_TABLE(number_, table_, Record_, ...) \
  template <>                                   \
  inline constexpr Table table_of<core::Record_> = Table::table_;
#include "core/tables.def"
#undef HK_TABLE

/// Also the name of the table's column family.
constexpr std::string_view table_name(Table table) {
  switch (table) {
#define HK_TABLE(number_, table_, ...) \
  case Table::table_: return #table_;
#include "core/tables.def"
#undef HK_TABLE
  }
  std::unreachable();
}

/// "lane/00000001…" in hexadecimal, at most 64 bytes of the key.
inline std::string describe_key(Table table, std::string_view key) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t shown_bytes_max = 64;
  std::string text(table_name(table));
  text.push_back('/');
  for (const char c : key.substr(0, shown_bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(digits[byte >> 4U]);
    text.push_back(digits[byte & 15U]);
  }
  if (key.size() > shown_bytes_max) {
    text += "…";
  }
  return text;
}

}  // namespace hk::store
