/// What the targets share: the input as a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hk::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The first line, without its end; `text` begins behind it then.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace hk::fuzz
