// The numbers that a message attribute of type Number may hold.
#include <algorithm>
#include <charconv>
#include <string>

#include "api/aws/message_attributes.h"
#include "base/ascii.h"

namespace hk::api::aws {

namespace {

constexpr std::size_t text_bytes_max =
    512;  ///< zeros around 38 digits are legal, pages of them not
constexpr std::size_t digits_max = 38;
constexpr int exponent_min = -128;
constexpr int exponent_max = 126;

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits(text.begin(), end);
  text.remove_prefix(digits.size());
  return digits;
}

void take_sign(std::string_view& text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    text.remove_prefix(1);
  }
}

/// "e-5"; 0 when there is none; nullopt when it is broken or beyond any limit.
std::optional<int> take_exponent(std::string_view& text) {
  if (text.empty() || hk::to_lower(text.front()) != 'e') {
    return 0;
  }
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  take_sign(text);
  const std::string_view digits = take_digits(text);
  int exponent = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, exponent);
  if (digits.empty() || failed != std::errc{} || exponent > 10'000) {
    return std::nullopt;
  }
  return negative ? -exponent : exponent;
}

}  // namespace

bool allowed_number(std::string_view text) {
  if (text.size() > text_bytes_max) {
    return false;
  }
  take_sign(text);
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  const std::optional<int> exponent = take_exponent(text);
  if (!exponent || !text.empty() || whole.size() + fraction.size() == 0) {
    return false;
  }

  std::string digits = std::string(whole) + std::string(fraction);
  const std::size_t leading = digits.find_first_not_of('0');
  if (leading == std::string::npos) {
    return true;  // zero
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  digits.erase(0, leading);
  // The value is d.ddd times ten to this.
  const int magnitude = static_cast<int>(whole.size()) - 1 - static_cast<int>(leading) + *exponent;
  const bool small_enough =
      magnitude < exponent_max || (magnitude == exponent_max && digits == "1");
  return digits.size() <= digits_max && magnitude >= exponent_min && small_enough;
}

}  // namespace hk::api::aws
