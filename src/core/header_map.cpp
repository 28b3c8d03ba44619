#include "core/header_map.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace hk::core {

std::string canonical_header_name(std::string_view name) {
  std::string canonical(name);
  bool first = true;
  for (char& c : canonical) {
    c = first ? to_upper(c) : to_lower(c);
    first = c == '-';
  }
  return canonical;
}

void write_header_map(JsonWriter& json, std::string_view name, const std::vector<Header>& headers) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> grouped;
  for (const Header& header : headers) {
    const std::string canonical = canonical_header_name(header.name);
    auto place = std::ranges::find_if(
        grouped, [&canonical](const auto& group) { return group.first == canonical; });
    if (place == grouped.end()) {
      place = grouped.insert(grouped.end(), {canonical, {}});
    }
    place->second.push_back(header.value);
  }
  json.key(name);
  json.begin_object();
  for (const auto& [canonical, values] : grouped) {
    json.key(canonical);
    json.begin_array();
    for (const std::string_view value : values) {
      json.string(value);
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace hk::core
