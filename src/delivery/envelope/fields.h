/// Header fields as they stand on the wire. Pure.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "delivery/headers.h"

namespace hk::delivery {

/// REQUIRES: both are safe.
inline void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

inline void append_field(std::string& out, std::string_view name, std::uint64_t value) {
  std::array<char, 20> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  append_field(out, name, std::string_view(digits.data(), end));
}

/// For a text that may be missing or be any: what cannot be a field value stays here.
inline void append_field_if_safe(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty() && safe_value(value)) {
    append_field(out, name, value);
  }
}

}  // namespace hk::delivery
