/// Names of tables and bytes of keys, for people: messages of errors, column families, reports.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "store/store.h"

namespace hk::store {

/// Also the name of the table's column family: never change one.
constexpr std::string_view table_name(Table table) {
  switch (table) {
    case Table::meta: return "meta";
    case Table::message: return "message";
    case Table::state: return "state";
    case Table::attempt: return "attempt";
    case Table::lane: return "lane";
    case Table::dedup: return "dedup";
    case Table::dead_letter: return "dead_letter";
    case Table::event: return "event";
    case Table::expiry: return "expiry";
    case Table::queue: return "queue";
    case Table::flow_key: return "flow_key";
    case Table::tenant: return "tenant";
    case Table::counters: return "counters";
    case Table::url_group: return "url_group";
    case Table::schedule: return "schedule";
    case Table::schedule_state: return "schedule_state";
    case Table::schedule_due: return "schedule_due";
    case Table::document: return "document";
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
