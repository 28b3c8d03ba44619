/// Values of JSON as filter policies see them, when they are read and when they are matched. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string_view>

namespace hk::core::filter {

inline std::optional<double> number_of(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::int64: return static_cast<double>(value.get_int64());
    case boost::json::kind::uint64: return static_cast<double>(value.get_uint64());
    case boost::json::kind::double_: return value.get_double();
    default: return std::nullopt;
  }
}

}  // namespace hk::core::filter
