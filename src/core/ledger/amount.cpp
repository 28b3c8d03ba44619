#include "core/ledger/amount.h"

#include <algorithm>
#include <limits>

namespace hk::core::ledger {

Signed saturating_sum(Signed a, Signed b) {
  if (a.negative == b.negative) {
    if (!add(a.magnitude, b.magnitude)) {
      a.magnitude = amount_max;
    }
    return a;
  }
  return a.negative ? Signed::difference(b.magnitude, a.magnitude)
                    : Signed::difference(a.magnitude, b.magnitude);
}

std::string to_text(Amount amount) {
  if (amount <= std::numeric_limits<std::uint64_t>::max()) {
    return std::to_string(static_cast<std::uint64_t>(amount));
  }
  std::string text;
  for (; amount != 0; amount /= 10) {
    text.push_back(static_cast<char>('0' + static_cast<int>(amount % 10)));
  }
  std::ranges::reverse(text);
  return text;
}

std::string to_text(const Signed& amount) {
  return (amount.negative ? "-" : "") + to_text(amount.magnitude);
}

std::optional<Amount> parse_amount(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  Amount amount = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    const auto digit = static_cast<Amount>(c - '0');
    if (amount > (amount_max - digit) / 10) {
      return std::nullopt;
    }
    amount = amount * 10 + digit;
  }
  return amount;
}

std::optional<Signed> parse_signed(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
  }
  const auto magnitude = parse_amount(text);
  if (!magnitude) {
    return std::nullopt;
  }
  return Signed{negative && *magnitude != 0, *magnitude};
}

}  // namespace hk::core::ledger
