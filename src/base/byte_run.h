/// Finding the end of a run of ordinary bytes in large texts, eight bytes at a time: for the
/// escaping of answers. Any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hk {

/// Eight bytes of a text. Each function gives a word in which the top bit of a byte is set where
/// the byte is what was asked for; behind the first such byte others may be set too, which does not
/// matter to whoever looks for the first. Join them with |.
class EightBytes {
 public:
  explicit constexpr EightBytes(std::uint64_t word) : word_(word) {}

  [[nodiscard]] constexpr std::uint64_t equal(unsigned char c) const {
    return EightBytes(word_ ^ (ones * c)).below(1);
  }
  /// REQUIRES: limit <= 0x80.
  [[nodiscard]] constexpr std::uint64_t below(unsigned char limit) const {
    return (word_ - ones * limit) & ~word_ & tops;
  }
  [[nodiscard]] constexpr std::uint64_t not_ascii() const { return word_ & tops; }

 private:
  static constexpr std::uint64_t ones = 0x0101010101010101;
  static constexpr std::uint64_t tops = 0x8080808080808080;
  std::uint64_t word_;
};

/// How many bytes stand before the first one for which `special` sets a bit. REQUIRES: it does not
/// for '0'.
template <class Special>
std::size_t bytes_before(std::string_view text, Special special) {
  for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0x3030303030303030;  // what is not filled at the end
    const std::size_t left = text.size() - at;
    std::memcpy(&word, text.data() + at, left < sizeof word ? left : sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
      word = std::byteswap(word);
    }
    if (const std::uint64_t found = special(EightBytes(word)); found != 0) {
      return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  return text.size();
}

}  // namespace hk
