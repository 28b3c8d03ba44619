/// Header fields, and the one gate for those that leave this process. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hk::net {

struct Field {
  std::string name{};
  std::string value{};
};

/// The value of the first field of that name, in any case; nullopt: there is none.
std::optional<std::string_view> find_field(const std::vector<Field>& fields, std::string_view name);

/// The name is a token; the value holds no control byte but the tab and no space at its ends: it
/// cannot end a line, so it cannot add a header or a second message.
bool safe_header(std::string_view name, std::string_view value);

}  // namespace hk::net
