/// Retry-delay expressions that the simulated clients use, each with what it must give: worked out
/// by hand here, not by the core's evaluator.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/assert.h"
#include "base/time.h"

namespace hk::sim {

struct KnownExpression {
  std::string_view text;
  Millis (*value)(std::int64_t retried);
};

inline constexpr std::array<KnownExpression, 5> known_expressions{{
    {"1000 * (1 + retried)", [](std::int64_t n) { return Millis{1000 * (1 + n)}; }},
    {"pow(2, retried) * 100", [](std::int64_t n) { return Millis{(std::int64_t{1} << n) * 100}; }},
    {"min(5000, 700 * retried)",
     [](std::int64_t n) { return Millis{std::min<std::int64_t>(5000, 700 * n)}; }},
    {"0", [](std::int64_t) { return Millis{0}; }},
    {"max(3, retried - 10) + 40",
     [](std::int64_t n) { return Millis{std::max<std::int64_t>(3, n - 10) + 40}; }},
}};

inline Millis expression_value(std::string_view text, std::uint32_t retried) {
  for (const KnownExpression& known : known_expressions) {
    if (known.text == text) {
      return known.value(retried);
    }
  }
  HK_ASSERT(false);
}

}  // namespace hk::sim
