#include "api/qstash/header_map.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

std::unexpected<Error> wrong(std::string_view name, std::string_view why) {
  return fail(ErrorKind::invalid_argument,
              "headers: \"" + std::string(name) + "\" " + std::string(why));
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

Result<void> add(std::string_view name, const boost::json::value& value,
                 std::vector<net::Field>& fields) {
  if (!value.is_string()) {
    return wrong(name, "must be a string or an array of strings");
  }
  const boost::json::string& text = value.get_string();
  // A request's parser would not have let it through either: it could end the header and begin
  // another.
  if (std::ranges::any_of(text, is_control)) {
    return wrong(name, "has a control character in its value");
  }
  fields.push_back(
      {std::string(name), std::string(trim(std::string_view(text.data(), text.size())))});
  return {};
}

}  // namespace

Result<std::vector<net::Field>> read_header_map(const boost::json::value* map) {
  std::vector<net::Field> fields;
  if (map == nullptr) {
    return fields;
  }
  if (!map->is_object()) {
    return fail(ErrorKind::invalid_argument,
                "headers must be an object whose values are strings or arrays of strings");
  }
  fields.reserve(map->get_object().size());
  for (const auto& [key, value] : map->get_object()) {
    const std::string_view name(key.data(), key.size());
    if (!value.is_array()) {
      if (auto added = add(name, value, fields); !added) {
        return std::unexpected(added.error());
      }
      continue;
    }
    for (const boost::json::value& one : value.get_array()) {
      if (auto added = add(name, one, fields); !added) {
        return std::unexpected(added.error());
      }
    }
  }
  return fields;
}

}  // namespace hk::api::qstash
