/// Moments as protocols write them, in UTC and in English whatever the locale. Pure, any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace hk {

/// "2026-01-02T03:04:05.678Z"
std::string rfc3339(Moment moment);

/// To the nanosecond: "2026-01-02T03:04:05.678000009Z".
using NanoMoment = std::chrono::sys_time<std::chrono::nanoseconds>;
void append_rfc3339(std::string& out, NanoMoment moment);
/// Any RFC 3339 time with up to 9 decimals, also with an offset; "T" and "Z" in either case.
/// nullopt: anything else, a day that no calendar has, or one that 64 bits of nanoseconds cannot
/// say (before 1678, after 2261).
std::optional<NanoMoment> parse_rfc3339(std::string_view text);

/// "20260102T030405Z": the basic form of ISO 8601, in which requests to AWS are signed.
std::string basic_date(Moment moment);
/// The same back; nullopt for anything else, also for days that no calendar has.
std::optional<Moment> parse_basic_date(std::string_view text);

/// "Fri, 02 Jan 2026 03:04:05 GMT": the date of HTTP (RFC 9110, IMF-fixdate).
void append_http_date(std::string& out, Moment moment);
/// The same back. Which of the seven days it names is not checked.
std::optional<Moment> parse_http_date(std::string_view text);

}  // namespace hk
