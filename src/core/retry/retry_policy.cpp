#include "core/retry/retry_policy.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "core/retry/expression.h"

namespace hk::core {

namespace {

Millis exponential(const ExponentialDelay& delay, std::uint32_t retry, Rng& rng) {
  const auto cap = static_cast<double>(delay.cap.count());
  const double raw = static_cast<double>(delay.first.count()) *
                     std::pow(delay.factor, static_cast<double>(retry - 1));
  // Negated comparisons, so that not-a-number and infinity end at the cap.
  const double bounded = !(raw < cap) ? cap : raw;
  auto wait = static_cast<std::uint64_t>(std::ceil(std::fmax(bounded, 0)));
  if (delay.jitter_percent > 0 && wait > 0) {
    wait += rng.below(wait * delay.jitter_percent / 100 + 1);
  }
  return Millis{static_cast<std::int64_t>(wait)};
}

}  // namespace

Millis retry_delay(const RetryPolicy& policy, std::uint32_t retry, std::optional<Millis> asked_for,
                   Rng& rng) {
  HK_ASSERT(retry >= 1);
  if (asked_for && *asked_for >= Millis{0} && *asked_for <= retry_delay_max) {
    return *asked_for;
  }
  if (const auto* exponent = std::get_if<ExponentialDelay>(&policy.delay)) {
    return exponential(*exponent, retry, rng);
  }
  if (const auto* table = std::get_if<TableDelay>(&policy.delay)) {
    if (table->delays.empty()) {
      return Millis{0};
    }
    return table->delays[std::min<std::size_t>(retry, table->delays.size()) - 1];
  }
  const auto expression = parse_expression(std::get<ExpressionDelay>(policy.delay).text);
  HK_ASSERT(expression.has_value());  // checked when the message was accepted
  return expression->evaluate(retry - 1);
}

}  // namespace hk::core
