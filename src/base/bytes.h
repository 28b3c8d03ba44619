/// Bytes in keys: big-endian integers, so that the order of the bytes is the order of the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hk {

template <class UInt>
void append_be(std::string& out, UInt value) {
  for (std::size_t shift = sizeof(UInt) * 8; shift != 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (shift - 8))));
  }
}

/// REQUIRES: bytes.size() >= sizeof(UInt).
template <class UInt>
UInt read_be(std::string_view bytes) {
  UInt value = 0;
  for (std::size_t i = 0; i < sizeof(UInt); ++i) {
    value = static_cast<UInt>((static_cast<std::uint64_t>(value) << 8U) |
                              static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

}  // namespace hk
