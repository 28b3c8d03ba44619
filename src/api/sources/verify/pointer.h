/// Reading one value out of a JSON body by an RFC 6901 pointer, without building a tree. Pure, any
/// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hk::api::sources {

using Pointer = std::vector<std::string>;
inline constexpr std::size_t pointer_bytes_max = 256;

/// "/data/id"; nullopt: that is no pointer, or one to the whole document.
std::optional<Pointer> parse_pointer(std::string_view text);

struct PointedAt {
  bool is_json = false;
  /// A text as it is, a number as it is written, true or false. None: there is no such value.
  std::optional<std::string> text{};
};
/// Of a name that an object has twice, the last counts.
PointedAt find_text(std::string_view body, const Pointer& pointer);

}  // namespace hk::api::sources
