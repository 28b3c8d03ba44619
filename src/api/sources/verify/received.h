/// A request as it came to the door of a source, or as the quarantine has kept it. Plain data that
/// points into what the caller has.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/ascii.h"
#include "base/time.h"
#include "net/header.h"

namespace hk::api::sources {

struct Received {
  std::string_view method{};
  std::string_view target{};  ///< path and query, raw
  std::span<const net::Field> fields{};
  std::string_view body{};
  Moment at{};

  /// The first of that name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    const auto found = std::ranges::find_if(
        fields, [&](const net::Field& one) { return equals_ignoring_case(one.name, name); });
    return found == fields.end() ? std::nullopt : std::optional<std::string_view>(found->value);
  }
  [[nodiscard]] std::string_view path() const { return target.substr(0, target.find('?')); }
  [[nodiscard]] std::string_view query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
  }
};

}  // namespace hk::api::sources
