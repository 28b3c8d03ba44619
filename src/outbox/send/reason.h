/// Why a row was not sent or not taken: what `last_error_code` and the ledger say. Users match on
/// these words; they are never changed.
#pragma once

#include <string_view>

namespace hk::outbox::reason {

inline constexpr std::string_view broker_non_retryable = "BROKER_NON_RETRYABLE";
inline constexpr std::string_view broker_rejected = "BROKER_REJECTED";
inline constexpr std::string_view broker_error = "BROKER_ERROR";
inline constexpr std::string_view broker_timeout = "BROKER_TIMEOUT";
inline constexpr std::string_view broker_unreachable = "BROKER_UNREACHABLE";
inline constexpr std::string_view broker_blocked = "BROKER_BLOCKED";
inline constexpr std::string_view payload_invalid = "PAYLOAD_INVALID";
inline constexpr std::string_view payload_too_large = "PAYLOAD_TOO_LARGE";
inline constexpr std::string_view destination_invalid = "DESTINATION_INVALID";
inline constexpr std::string_view headers_invalid = "HEADERS_INVALID";

}  // namespace hk::outbox::reason
