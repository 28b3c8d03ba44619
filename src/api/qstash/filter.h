/// The filters that messages, dead letters and events share (§10.3 of the wire specification), as
/// they are given (core/message/filter.h says what they mean). Pure, any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/parameters.h"
#include "base/error.h"
#include "core/message/filter.h"

namespace hk::api::qstash {

/// invalid_argument: there are more values than one call may give.
Result<void> check_count(std::string_view parameter, std::size_t values);

/// invalid_argument: a date that is no number, too many values.
Result<core::MessageFilter> read_filter(const Parameters& parameters);

/// For commands: a filter that is given without a value would select everything. invalid_argument
/// names it.
Result<void> check_filters_have_values(const Parameters& parameters,
                                       std::initializer_list<std::string_view> further = {});

struct Paging {
  std::size_t count = 0;
  bool latest_first = false;
  std::optional<std::string> cursor{};
  bool with_bodies = true;
};
/// A count above the maximum is the maximum: the cursor leads to the rest.
Result<Paging> read_paging(const Parameters& parameters, std::size_t count_default,
                           std::size_t count_max, bool latest_first_default);

}  // namespace hk::api::qstash
