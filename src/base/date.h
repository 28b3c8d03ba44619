/// Moments as protocols write them, in UTC and in English whatever the locale. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace hk {

/// "2026-01-02T03:04:05.678Z"
std::string rfc3339(Moment moment);

/// "20260102T030405Z": the basic form of ISO 8601, in which requests to AWS are signed.
std::string basic_date(Moment moment);
/// The same back; nullopt for anything else, also for days that no calendar has.
std::optional<Moment> parse_basic_date(std::string_view text);

/// "Fri, 02 Jan 2026 03:04:05 GMT": the date of HTTP (RFC 9110, IMF-fixdate).
void append_http_date(std::string& out, Moment moment);
/// The same back. Which of the seven days it names is not checked.
std::optional<Moment> parse_http_date(std::string_view text);

}  // namespace hk
