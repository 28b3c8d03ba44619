#include <array>
#include <cstring>

#include "security/digest.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace hk::security {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1U) ^ ((value & 1U) != 0 ? 0x82f63b78U : 0U);  // Castagnoli, reflected
    }
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> table = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t update_sse42(std::uint32_t state,
                                                             std::string_view bytes) {
  std::uint64_t wide = state;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = _mm_crc32_u64(wide, word);
    bytes.remove_prefix(sizeof word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (const char byte : bytes) {
    state = _mm_crc32_u8(state, static_cast<unsigned char>(byte));
  }
  return state;
}
#endif

}  // namespace

namespace detail {

std::uint32_t crc32c_portable(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t state = ~seed;
  for (const char byte : bytes) {
    state = (state >> 8U) ^ table[(state ^ static_cast<unsigned char>(byte)) & 0xffU];
  }
  return ~state;
}

}  // namespace detail

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) {
#if defined(__x86_64__)
  static const bool have_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (have_sse42) {
    return ~update_sse42(~seed, bytes);
  }
#endif
  return detail::crc32c_portable(bytes, seed);
}

}  // namespace hk::security
