/// When the receiver wants to be asked again. Pure: the wall clock is an argument.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace hk::delivery {

/// A number of seconds ("10"), an RFC 1123 date, or a duration ("6m5s", "1s500ms"). A date in the
/// past is "at once". nullopt: cannot be read, negative, or more than a day away: the normal rule
/// applies.
std::optional<Millis> parse_retry_after(std::string_view value, Moment now);

/// Collects the fields of one answer; the first present of Retry-After, X-RateLimit-Reset,
/// X-RateLimit-Reset-Requests, X-RateLimit-Reset-Tokens decides alone, even if it cannot be read.
class RetryAfter {
 public:
  /// True when the field is one of the four.
  bool field(std::string_view name, std::string_view value, Moment now);
  [[nodiscard]] std::optional<Millis> wish() const { return wish_; }
  /// What Retry-After alone says, in whole seconds, also if that is days away; never more than a
  /// year.
  [[nodiscard]] std::optional<Millis> asked() const { return asked_; }

 private:
  int rank_ = 4;  ///< of the field that decides so far; 4 = none
  std::optional<Millis> wish_;
  std::optional<Millis> asked_;
};

}  // namespace hk::delivery
