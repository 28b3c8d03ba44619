/// JSON whose numbers stay as they were written, and its canonical form. A tree of doubles would
/// make two large amounts equal that are not. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk {

struct ExactJson {
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool truth = false;
  std::string text{};  ///< of a number as it was written; of a string what it says
  std::vector<ExactJson> items{};
  std::vector<std::pair<std::string, ExactJson>> members{};  ///< in their order

  /// invalid_argument: not JSON, too deep, or a name that an object has twice.
  static Result<ExactJson> parse(std::string_view text, std::size_t depth_max);

  /// Null: it has none of that name.
  [[nodiscard]] const ExactJson* member(std::string_view name) const;
  /// As it was, without the spaces between its parts.
  [[nodiscard]] std::string to_text() const;
  /// RFC 8785: what means the same is the same text. Integers that a double cannot hold keep their
  /// digits, beyond the RFC.
  [[nodiscard]] std::string canonical() const;
  /// parse() and canonical() in one pass, without the tree: many times less work.
  static Result<std::string> canonical_of(std::string_view text, std::size_t depth_max);
};

}  // namespace hk
