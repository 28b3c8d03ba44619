#include "net/header.h"

#include <algorithm>

#include "base/ascii.h"

namespace hk::net {

std::optional<std::string_view> find_field(const std::vector<Field>& fields,
                                           std::string_view name) {
  const auto found = std::ranges::find_if(
      fields, [name](const Field& field) { return equals_ignoring_case(field.name, name); });
  return found == fields.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

bool safe_header(std::string_view name, std::string_view value) {
  return is_token(name) && std::ranges::all_of(value, is_value_char) &&
         trim(value).size() == value.size();
}

}  // namespace hk::net
