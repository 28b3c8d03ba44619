#include "api/sources/verify/pointer.h"

#include <span>

#include "base/json_reader.h"

namespace hk::api::sources {

namespace {

using JsonKind = JsonReader::Kind;

void walk_to(JsonReader& reader, std::span<const std::string> rest,
             std::optional<std::string>& found) {
  const JsonKind kind = reader.kind();
  if (rest.empty()) {
    switch (kind) {
      case JsonKind::string: found = std::string(reader.string()); return;
      case JsonKind::number: found = std::string(reader.number()); return;
      case JsonKind::boolean: found = reader.boolean() ? "true" : "false"; return;
      case JsonKind::none:
      case JsonKind::null:
      case JsonKind::array:
      case JsonKind::object: break;
    }
    found.reset();
    reader.skip();
    return;
  }
  if (kind == JsonKind::object) {
    reader.begin_object();
    std::string_view name;
    while (reader.next_member(name)) {
      if (name == rest.front()) {
        found.reset();
        walk_to(reader, rest.subspan(1), found);
      } else {
        reader.skip();
      }
    }
    return;
  }
  if (kind == JsonKind::array) {
    reader.begin_array();
    for (std::size_t i = 0; reader.next_item(); ++i) {
      if (std::to_string(i) == rest.front()) {
        walk_to(reader, rest.subspan(1), found);
      } else {
        reader.skip();
      }
    }
    return;
  }
  reader.skip();
}

}  // namespace

std::optional<Pointer> parse_pointer(std::string_view text) {
  if (!text.starts_with('/') || text.size() > pointer_bytes_max) {
    return std::nullopt;
  }
  Pointer pointer;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      pointer.emplace_back();
    } else if (text[i] != '~') {
      pointer.back().push_back(text[i]);
    } else if (++i < text.size() && (text[i] == '0' || text[i] == '1')) {
      pointer.back().push_back(text[i] == '0' ? '~' : '/');
    } else {
      return std::nullopt;
    }
  }
  return pointer;
}

PointedAt find_text(std::string_view body, const Pointer& pointer) {
  JsonReader reader(body, 128);
  PointedAt result;
  walk_to(reader, pointer, result.text);
  reader.end();
  result.is_json = !reader.failed();
  if (!result.is_json) {
    result.text.reset();
  }
  return result;
}

}  // namespace hk::api::sources
