/// The parameters of a reading or bulk call: from the query string, or from a JSON object in the
/// body as some clients send them. A name nobody knows is an error, so that a filter with a typing
/// mistake never means "everything". Pure, any thread.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::api {

class Parameters {
 public:
  /// Without the token. invalid_argument: broken percent-encoding.
  static Result<Parameters> from_query(std::string_view query);

  /// Adds the members of a JSON object: texts, numbers and booleans, or arrays of them. null and an
  /// empty body are nothing. invalid_argument: anything else, or not a text in one of `texts`.
  Result<void> add_json(std::string_view body, std::span<const std::string_view> texts = {});

  [[nodiscard]] bool empty() const { return pairs_.empty(); }

  /// invalid_argument: names the first parameter that is not one of these.
  [[nodiscard]] Result<void> only(std::span<const std::string_view> names) const;

  /// Also with an empty value, or an empty array: that is not the same as leaving it out.
  [[nodiscard]] bool given(std::string_view name) const;
  /// Every value given, those between commas apart.
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  /// Every value as it was given.
  [[nodiscard]] std::vector<std::string> whole(std::string_view name) const;
  /// The only value. invalid_argument: there are several.
  [[nodiscard]] Result<std::optional<std::string>> one(std::string_view name) const;
  /// The only value as a whole number.
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace hk::api
