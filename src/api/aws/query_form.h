/// The fields of a Query request (form body or query string) as a bounded flat map, and the reading
/// of what is flattened into their names: "Attribute.2.Name" is the name of the second attribute.
/// Built once per request; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/aws/errors.h"

namespace hk::api::aws {

struct FormBounds {
  std::size_t fields_max = 4'000;  ///< a full batch of ten with ten attributes each has about 460
  std::size_t bytes_max = std::size_t{10} * 1024 * 1024;  ///< as it came, still encoded
};

class QueryForm {
 public:
  /// Both may be empty; where a field stands in both, the body's counts. serialization: too many
  /// fields, too many bytes, broken percent-encoding.
  static Checked<QueryForm> parse(std::string_view body, std::string_view query = {},
                                  FormBounds bounds = {});

  /// Adds a field unless there is one of that name.
  void add(std::string_view name, std::string_view value);

  /// The first field of that name.
  [[nodiscard]] std::optional<std::string_view> value(std::string_view name) const;

  /// The items of a flattened list or map: "X" gives "X.1", "X.2", ... in the order of the numbers,
  /// whatever gaps they have; an item that came without a number is "X" itself. An empty field "X="
  /// is an empty list.
  [[nodiscard]] std::vector<std::string> items(std::string_view list) const;

  /// A field of that name or of something inside it ("X", "X.1", "X.1.Name").
  [[nodiscard]] bool given(std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return fields_.size(); }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] Fields::const_iterator at_or_after(std::string_view name) const;

  Fields fields_;  ///< sorted by name; equal names in the order they came
};

}  // namespace hk::api::aws
