/// Parameters of a list: what is wrong with them is collected as that of bodies is. Those that
/// nobody asks for are ignored. Any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/svix/errors.h"
#include "api/svix/input.h"
#include "base/time.h"

namespace hk::api::svix {

class Query {
 public:
  Query(std::string_view query, FieldErrors& errors);

  [[nodiscard]] bool given(std::string_view name) const { return find(name) != nullptr; }
  // The last of several counts; nullopt: absent, empty, or wrong.
  std::optional<std::string> text(std::string_view name, Rule rule = nullptr);
  bool boolean(std::string_view name, bool otherwise);
  std::optional<Moment> time(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  /// Its place among the names.
  std::optional<std::size_t> one_of(std::string_view name, std::span<const std::string_view> names);
  /// Between commas, given several times, or both.
  std::vector<std::string> list(std::string_view name);

  void refuse(std::string_view name, std::string msg);

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> pairs_;
  FieldErrors& errors_;
};

}  // namespace hk::api::svix
