#include "core/retry/expression.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "base/assert.h"

namespace hk::core {

namespace {

struct Function {
  std::string_view name;
  std::size_t arity_min;
  std::size_t arity_max;
};
constexpr std::array functions{
    Function{"pow", 2, 2},   Function{"sqrt", 1, 1},  Function{"abs", 1, 1},
    Function{"exp", 1, 1},   Function{"floor", 1, 1}, Function{"ceil", 1, 1},
    Function{"round", 1, 1}, Function{"min", 2, 16},  Function{"max", 2, 16},
};

bool begins_name(char c) { return is_letter(c) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

/// expr := term (("+"|"-") term)*        term := factor (("*"|"/"|"%") factor)*
/// factor := ("+"|"-") factor | number | "retried" | name "(" expr ("," expr)* ")" | "(" expr ")"
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> parse() {
    if (text_.size() > expression_bytes_max) {
      return error("is longer than " + std::to_string(expression_bytes_max) + " bytes");
    }
    if (!sum(0)) {
      return error(problem_);
    }
    skip_spaces();
    if (at_ != text_.size()) {
      return error("has unexpected text at position " + std::to_string(at_ + 1));
    }
    return std::move(result_);
  }

 private:
  using Op = Expression::Op;

  static std::unexpected<Error> error(const std::string& what) {
    return fail(
        ErrorKind::invalid_argument,
        "retry delay expression " + what +
            "; allowed are numbers, retried, + - * / %, parentheses and pow sqrt abs exp floor "
            "ceil round min max, giving milliseconds");
  }

  bool complain(std::string what) {
    if (problem_.empty()) {
      problem_ = std::move(what);
    }
    return false;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    ++at_;
    return true;
  }

  void push(Op op, std::size_t arity = 0, double number = 0) {
    result_.nodes_.push_back({op, static_cast<std::uint8_t>(arity), number});
  }

  bool sum(std::size_t depth) {
    if (depth > expression_depth_max) {
      return complain("is nested deeper than " + std::to_string(expression_depth_max));
    }
    if (!product(depth)) {
      return false;
    }
    for (char op = peek(); op == '+' || op == '-'; op = peek()) {
      ++at_;
      if (!product(depth)) {
        return false;
      }
      push(op == '+' ? Op::add : Op::subtract);
    }
    return true;
  }

  bool product(std::size_t depth) {
    if (!factor(depth)) {
      return false;
    }
    for (char op = peek(); op == '*' || op == '/' || op == '%'; op = peek()) {
      ++at_;
      if (!factor(depth)) {
        return false;
      }
      push(op == '*' ? Op::multiply : op == '/' ? Op::divide : Op::remainder);
    }
    return true;
  }

  bool factor(std::size_t depth) {
    if (depth > expression_depth_max) {
      return complain("is nested deeper than " + std::to_string(expression_depth_max));
    }
    const char c = peek();
    if (c == '+' || c == '-') {
      ++at_;
      if (!factor(depth + 1)) {
        return false;
      }
      if (c == '-') {
        push(Op::negate);
      }
      return true;
    }
    if (c == '(') {
      ++at_;
      if (!sum(depth + 1)) {
        return false;
      }
      return take(')') || complain("lacks a closing parenthesis");
    }
    if (is_digit(c) || c == '.') {
      return number();
    }
    if (begins_name(c)) {
      return name(depth);
    }
    if (c == '\0') {
      return complain("ends where a value should be");
    }
    return complain("has an unexpected character at position " + std::to_string(at_ + 1));
  }

  bool number() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      ++at_;
    }
    double value = 0;
    const auto [end, code] =
        std::from_chars(text_.data() + start, text_.data() + at_, value, std::chars_format::fixed);
    if (code != std::errc{} || end != text_.data() + at_) {
      return complain("has a malformed number at position " + std::to_string(start + 1));
    }
    push(Op::number, 0, value);
    return true;
  }

  bool name(std::size_t depth) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "retried") {
      push(Op::retried);
      return true;
    }
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].name == word) {
        return call(i, depth);
      }
    }
    return complain("has an unknown name '" + std::string(word) + "'");
  }

  bool call(std::size_t function, std::size_t depth) {
    const auto& [word, arity_min, arity_max] = functions[function];
    if (!take('(')) {
      return complain("lacks '(' behind " + std::string(word));
    }
    std::size_t arity = 0;
    do {
      if (!sum(depth + 1)) {
        return false;
      }
      ++arity;
    } while (take(','));
    if (!take(')')) {
      return complain("lacks ')' behind " + std::string(word));
    }
    if (arity < arity_min || arity > arity_max) {
      return complain("gives " + std::string(word) + " " + std::to_string(arity) + " arguments");
    }
    push(static_cast<Op>(static_cast<std::size_t>(Op::pow) + function), arity);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
  Expression result_;
};

Result<Expression> parse_expression(std::string_view text) {
  return ExpressionParser(text).parse();
}

Millis Expression::evaluate(std::uint32_t retried) const {
  std::array<double, expression_bytes_max + 1> stack{};
  std::size_t top = 0;  // a node pushes at most one value, and there are fewer nodes than bytes
  const auto pop = [&] {
    HK_ASSERT(top > 0);
    return stack[--top];
  };
  const auto push = [&](double value) {
    HK_ASSERT(top < stack.size());
    stack[top++] = value;
  };

  for (const Node& node : nodes_) {
    switch (node.op) {
      case Op::number: push(node.number); break;
      case Op::retried: push(retried); break;
      case Op::negate: push(-pop()); break;
      case Op::sqrt: push(std::sqrt(pop())); break;
      case Op::abs: push(std::fabs(pop())); break;
      case Op::exp: push(std::exp(pop())); break;
      case Op::floor: push(std::floor(pop())); break;
      case Op::ceil: push(std::ceil(pop())); break;
      case Op::round: push(std::round(pop())); break;
      case Op::min:
      case Op::max: {
        double best = pop();
        for (std::uint8_t i = 1; i < node.arity; ++i) {
          const double other = pop();
          best = (node.op == Op::min) == (other < best) ? other : best;
        }
        push(best);
        break;
      }
      case Op::add:
      case Op::subtract:
      case Op::multiply:
      case Op::divide:
      case Op::remainder:
      case Op::pow: {
        const double right = pop();
        const double left = pop();
        push(node.op == Op::add         ? left + right
             : node.op == Op::subtract  ? left - right
             : node.op == Op::multiply  ? left * right
             : node.op == Op::divide    ? left / right
             : node.op == Op::remainder ? std::fmod(left, right)
                                        : std::pow(left, right));
        break;
      }
    }
  }
  HK_ASSERT(top == 1);

  const double ms = stack[0];
  const auto cap = static_cast<double>(retry_delay_max.count());
  if (std::isnan(ms) || ms <= 0) {
    return Millis{0};
  }
  return Millis{static_cast<std::int64_t>(std::ceil(std::fmin(ms, cap)))};
}

}  // namespace hk::core
