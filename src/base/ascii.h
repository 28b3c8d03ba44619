/// ASCII without a locale, and the character classes of RFC 9110 as tables: what every module that
/// reads text shares. Pure, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hk {

namespace detail {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}

/// Horizontal tab, visible ASCII, space and obs-text: what a field value may hold.
constexpr std::array<bool, 256> make_value_table() {
  std::array<bool, 256> table{};
  for (unsigned c = 0x20; c <= 0xff; ++c) table[c] = c != 0x7f;
  table['\t'] = true;
  return table;
}

inline constexpr std::array<bool, 256> token_table = make_token_table();
inline constexpr std::array<bool, 256> value_table = make_value_table();

}  // namespace detail

constexpr bool is_token_char(char c) { return detail::token_table[static_cast<unsigned char>(c)]; }
constexpr bool is_value_char(char c) { return detail::value_table[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}

constexpr bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}

/// Visible ASCII without '#': what a request target may hold on the wire.
constexpr bool is_target_char(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

/// Blanks within a line, and with the ends of lines.
inline constexpr std::string_view blanks = " \t";
inline constexpr std::string_view white_space = " \t\r\n";

/// Without what of `outside` leads and trails.
constexpr std::string_view trim(std::string_view text, std::string_view outside = blanks) {
  while (!text.empty() && outside.contains(text.front())) text.remove_prefix(1);
  while (!text.empty() && outside.contains(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}
constexpr bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}
inline std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = to_lower(c);
  return lowered;
}

}  // namespace hk
