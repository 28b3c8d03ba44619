#include "delivery/outcome.h"

namespace hk::delivery {

Outcome judge_answer(int status, bool non_retryable, std::optional<Millis> retry_after) {
  if (status >= 200 && status <= 299) {
    return {.delivered = true};
  }
  if (status >= 300 && status <= 399) {
    return {.retry_after = retry_after, .error = "redirect not followed"};
  }
  if (status == 489 && non_retryable) {
    return {.give_up = true, .error = "the receiver marked the error as not retryable"};
  }
  return {.retry_after = retry_after, .error = "status " + std::to_string(status)};
}

}  // namespace hk::delivery
