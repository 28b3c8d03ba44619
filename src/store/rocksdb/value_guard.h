/// Each value ends in a CRC32C over its table, its key and itself: bytes that were meant for
/// another place (a misdirected write, a bug below us) do not pass for the value of this one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "security/digest.h"

namespace hk::store {

inline constexpr std::size_t guard_bytes = 4;
/// Stands for the table of the store's own records.
inline constexpr std::uint8_t own_table = 0xff;

inline std::uint32_t guard_of(std::uint8_t table, std::string_view key, std::string_view value) {
  const char first = static_cast<char>(table);
  return security::crc32c(value, security::crc32c(key, security::crc32c({&first, 1})));
}

inline std::array<char, guard_bytes> guard_as_bytes(std::uint32_t guard) {
  return {static_cast<char>(guard >> 24U), static_cast<char>(guard >> 16U),
          static_cast<char>(guard >> 8U), static_cast<char>(guard)};
}

/// The value without its guard into `value`; false: these are not the bytes that were written here.
inline bool check_guard(std::uint8_t table, std::string_view key, std::string_view stored,
                        std::string_view& value) {
  if (stored.size() < guard_bytes) {
    return false;
  }
  value = stored.substr(0, stored.size() - guard_bytes);
  return read_be<std::uint32_t>(stored.substr(value.size())) == guard_of(table, key, value);
}

}  // namespace hk::store
