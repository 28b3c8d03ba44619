#include "base/sortable_id.h"

#include <algorithm>
#include <array>

namespace hk {

namespace {

// In ASCII order, so that the texts sort as the ids do.
constexpr std::string_view sortable_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t sortable_length = 27;
constexpr std::int64_t sortable_begin_s = 1'400'000'000;

using Wide = unsigned __int128;

/// 160 bits as two numbers.
struct Bits160 {
  std::uint32_t high = 0;
  Wide low = 0;
};

}  // namespace

std::string sortable_id(std::string_view prefix, NanoMoment at, std::uint64_t number,
                        std::uint64_t random) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::int64_t since =
      at.time_since_epoch().count() - sortable_begin_s * std::int64_t{second};
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, since));
  Bits160 bits{.high = static_cast<std::uint32_t>(ns / second)};
  bits.low = Wide{ns % second * 256 / second} << 120U | Wide{number} << 56U |
             (random & ((std::uint64_t{1} << 56U) - 1));
  // Ten digits at a time: what is left fits 128 bits after the first.
  constexpr std::uint64_t ten_digits = 839'299'365'868'340'224;  // 62^10
  std::array<char, sortable_length> text{};
  std::size_t end = text.size();
  for (int piece = 0; piece < 3; ++piece) {
    // (high * 2^128 + low) divided by 62^10, word by word.
    const Wide first = Wide{bits.high} << 64U | static_cast<std::uint64_t>(bits.low >> 64U);
    const auto first_quotient = static_cast<std::uint64_t>(first / ten_digits);
    const Wide second_part = (first % ten_digits) << 64U | static_cast<std::uint64_t>(bits.low);
    std::uint64_t rest = static_cast<std::uint64_t>(second_part % ten_digits);
    bits.low = Wide{first_quotient} << 64U | static_cast<std::uint64_t>(second_part / ten_digits);
    bits.high = 0;
    for (int digit = 0; digit < 10 && end > 0; ++digit) {
      text[--end] = sortable_digits[rest % 62];
      rest /= 62;
    }
  }
  std::string id(prefix);
  id.append(text.data(), text.size());
  return id;
}

std::optional<SortableId> parse_sortable_id(std::string_view id, std::string_view prefix) {
  if (!id.starts_with(prefix) || id.size() != prefix.size() + sortable_length) {
    return std::nullopt;
  }
  std::array<std::uint32_t, 5> words{};  // the lowest first
  for (const char c : id.substr(prefix.size())) {
    const std::size_t digit = sortable_digits.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    std::uint64_t carry = digit;
    for (std::uint32_t& word : words) {
      carry += std::uint64_t{word} * 62;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry != 0) {
      return std::nullopt;
    }
  }
  // 56 random bits, then the number, the 1/256 of its second, and the seconds.
  constexpr std::uint64_t low_24 = 0xff'ffff;
  return SortableId{
      .second = sortable_begin_s + std::int64_t{words[4]},
      .number = words[1] >> 24U | std::uint64_t{words[2]} << 8U | std::uint64_t{words[3]} << 40U,
      .random = words[0] | (words[1] & low_24) << 32U};
}

std::optional<std::uint64_t> number_in_id(std::string_view id, std::string_view prefix) {
  const auto parts = parse_sortable_id(id, prefix);
  return parts ? std::optional(parts->number) : std::nullopt;
}

}  // namespace hk
