#include "api/text.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace hk::api {

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string lowered = lower_case(text);
  if (lowered == "true") {
    return true;
  }
  if (lowered == "false") {
    return false;
  }
  return std::nullopt;
}

bool valid_name(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !is_digit(c) && c != '.' && c != '_' && c != '-') {
      return false;
    }
  }
  return !text.empty();
}

bool valid_new_queue_name(std::string_view text) {
  return text.size() <= queue_name_bytes_max && valid_name(text);
}

bool is_key_text(std::string_view text) {
  constexpr std::size_t bytes_max = 255;
  return !text.empty() && text.size() <= bytes_max &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trim(text.substr(0, comma));
    if (!part.empty()) {
      parts.emplace_back(part);
    }
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace hk::api
