#include "base/encoding.h"

#include <array>
#include <cstdint>

namespace hk {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view standard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_safe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t not_in_alphabet = 0xff;

using Values = std::array<std::uint8_t, 256>;

constexpr Values values_of(std::string_view alphabet) {
  Values values{};
  values.fill(not_in_alphabet);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr Values hex_values() {
  Values values = values_of(hex_digits);
  for (std::uint8_t i = 0; i < 6; ++i) {
    values[static_cast<std::size_t>('A') + i] = static_cast<std::uint8_t>(10 + i);
  }
  return values;
}

constexpr Values from_hex = hex_values();
constexpr Values from_standard = values_of(standard);
constexpr Values from_url_safe = values_of(url_safe);

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

void append_encoded(std::string& out, std::string_view bytes, std::string_view alphabet,
                    bool padded) {
  const std::size_t rest = bytes.size() % 3;
  const std::size_t begin = out.size();
  const std::size_t last = rest == 0 ? 0 : padded ? 4 : rest + 1;
  out.resize(begin + bytes.size() / 3 * 4 + last);
  char* to = out.data() + begin;
  const char* const digits = alphabet.data();
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t three =
        (byte_at(bytes, i) << 16U) | (byte_at(bytes, i + 1) << 8U) | byte_at(bytes, i + 2);
    *to++ = digits[three >> 18U];
    *to++ = digits[(three >> 12U) & 63U];
    *to++ = digits[(three >> 6U) & 63U];
    *to++ = digits[three & 63U];
  }
  if (rest != 0) {
    const std::uint32_t three =
        (byte_at(bytes, i) << 16U) | (rest == 2 ? byte_at(bytes, i + 1) << 8U : 0U);
    *to++ = digits[three >> 18U];
    *to++ = digits[(three >> 12U) & 63U];
    if (rest == 2) {
      *to++ = digits[(three >> 6U) & 63U];
    }
    while (to != out.data() + out.size()) {
      *to++ = '=';
    }
  }
}

std::optional<std::string> decode(std::string_view text, const Values& values) {
  if (text.size() % 4 == 1) {
    return std::nullopt;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char character : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(character)];
    if (value == not_in_alphabet) {
      return std::nullopt;
    }
    bits = (bits << 6U) | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.push_back(static_cast<char>(static_cast<unsigned char>(bits >> held)));
      bits &= (1U << held) - 1U;
    }
  }
  if (bits != 0) {  // bits beyond the last byte: a second text for the same bytes
    return std::nullopt;
  }
  return out;
}

}  // namespace

void append_hex(std::string& out, std::string_view bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + bytes.size() * 2);
  char* to = out.data() + begin;
  const char* const digits = hex_digits.data();
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *to++ = digits[byte >> 4U];
    *to++ = digits[byte & 15U];
  }
}

std::string hex(std::string_view bytes) {
  std::string out;
  append_hex(out, bytes);
  return out;
}

std::optional<std::string> unhex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::uint8_t high = from_hex[byte_at(text, i)];
    const std::uint8_t low = from_hex[byte_at(text, i + 1)];
    if (high == not_in_alphabet || low == not_in_alphabet) {
      return std::nullopt;
    }
    out.push_back(static_cast<char>(static_cast<unsigned char>((high << 4U) | low)));
  }
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

void append_base64(std::string& out, std::string_view bytes) {
  append_encoded(out, bytes, standard, true);
}

std::optional<std::string> unbase64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  for (int i = 0; i < 2 && text.ends_with('='); ++i) {
    text.remove_suffix(1);
  }
  return decode(text, from_standard);
}

std::string base64url(std::string_view bytes) {
  std::string out;
  append_base64url(out, bytes);
  return out;
}

void append_base64url(std::string& out, std::string_view bytes) {
  append_encoded(out, bytes, url_safe, false);
}

std::optional<std::string> unbase64url(std::string_view text) {
  return decode(text, from_url_safe);
}

}  // namespace hk
