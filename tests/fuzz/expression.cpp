// Retry-delay expressions: what is accepted gives a wait of at most a day for every number of
// retries, and parentheses around it change nothing.
#include "core/retry/expression.h"

#include <limits>
#include <string>

#include "base/assert.h"
#include "fuzz/text.h"

using namespace hk;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const auto expression = core::parse_expression(text);
  if (!expression) {
    HK_ASSERT(expression.error().kind == ErrorKind::invalid_argument);
    return 0;
  }
  const auto enclosed = core::parse_expression("(" + std::string(text) + ")");
  for (const std::uint32_t retried :
       {0U, 1U, 2U, 7U, 1000U, std::numeric_limits<std::uint32_t>::max()}) {
    const Millis wait = expression->evaluate(retried);
    HK_ASSERT(wait >= Millis{0} && wait <= core::retry_delay_max);
    HK_ASSERT(!enclosed || enclosed->evaluate(retried) == wait);
  }
  return 0;
}
