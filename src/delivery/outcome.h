/// What an answer means. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace hk::delivery {

struct Outcome {
  bool delivered = false;
  bool give_up = false;  ///< the receiver said that no retry can help
  std::optional<Millis> retry_after{};
  std::string error{};  ///< "" when delivered
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// 2xx delivers; 489 with the non-retryable mark ends the retries; everything else is a failed
/// attempt, redirects included: following one would send the body where nobody asked for it.
Outcome judge_answer(int status, bool non_retryable, std::optional<Millis> retry_after);

}  // namespace hk::delivery
