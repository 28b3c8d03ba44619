#include "core/transact/transact_id.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace hk::core {

/// 20 bytes in base 62: seconds since 1,400,000,000 in 4, 1/256 seconds in 1, the rest is random.
std::string transact_id(Moment now, Rng& rng) {
  constexpr std::int64_t begin_ms = 1'400'000'000'000;
  constexpr std::string_view digits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t text_size = 27;
  const std::uint64_t ms =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_ms(now) - begin_ms));
  const std::uint64_t time = (ms / 1000) << 8U | ms % 1000 * 256 / 1000;
  std::array<std::uint8_t, 20> bytes{};
  for (std::size_t i = 0; i < 5; ++i) {
    bytes[i] = static_cast<std::uint8_t>(time >> (8 * (4 - i)));
  }
  for (std::size_t i = 5; i < bytes.size(); i += 8) {
    const std::uint64_t drawn = rng.next();
    for (std::size_t j = i; j < std::min(i + 8, bytes.size()); ++j) {
      bytes[j] = static_cast<std::uint8_t>(drawn >> (8 * (j - i)));
    }
  }
  std::string text(text_size, '0');
  for (std::size_t at = text_size; at-- > 0;) {
    std::uint32_t rest = 0;
    for (std::uint8_t& byte : bytes) {
      const std::uint32_t value = rest << 8U | byte;
      byte = static_cast<std::uint8_t>(value / 62);
      rest = value % 62;
    }
    text[at] = digits[rest];
  }
  return "tx_" + text;
}

}  // namespace hk::core
