/// The arithmetic of `Upstash-Retry-Delay`: an expression over one variable, `retried`, that gives
/// milliseconds. Parsed once when a message is accepted (to refuse a bad one) and again when a
/// retry is planned. Bounded in length, depth and nodes; evaluation always ends.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace hk::core {

inline constexpr std::size_t expression_bytes_max = 256;
inline constexpr std::size_t expression_depth_max = 32;
inline constexpr Millis retry_delay_max{86'400'000};

/// In postfix order: evaluation is one pass over a stack.
class Expression {
 public:
  /// Clamped to 0 … one day; not-a-number counts as 0, infinity as one day. `retried` is the number
  /// of retries made so far: 0 when the first one is planned.
  [[nodiscard]] Millis evaluate(std::uint32_t retried) const;

 private:
  friend class ExpressionParser;
  enum class Op : std::uint8_t {
    number,
    retried,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    negate,
    pow,
    sqrt,
    abs,
    exp,
    floor,
    ceil,
    round,
    min,
    max,
  };
  struct Node {
    Op op = Op::number;
    std::uint8_t arity = 0;  ///< of min and max
    double number = 0;
  };
  std::vector<Node> nodes_;
};

/// invalid_argument: says where it went wrong and what is allowed.
Result<Expression> parse_expression(std::string_view text);

}  // namespace hk::core
