/// The dates in which AWS requests are signed. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace hk::api::aws {

/// "20260102T030405Z"
std::string amz_date(Moment moment);
/// The same back; nullopt for anything else, also for days that no calendar has.
std::optional<Moment> parse_amz_date(std::string_view text);
/// "Fri, 02 Jan 2026 03:04:05 GMT", as in a Date header; the name of the day is not checked.
std::optional<Moment> parse_http_date(std::string_view text);

}  // namespace hk::api::aws
