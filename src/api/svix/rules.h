/// What names, texts and headers of webhooks may be. Each says what is wrong, "" if nothing is.
/// Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hk::api::svix {

inline constexpr std::size_t metadata_bytes_max = 4096;
inline constexpr std::int64_t rate_max = 65'535;

std::string check_application_uid(std::string_view text);
std::string check_endpoint_uid(std::string_view text);
std::string check_event_id(std::string_view text);
/// Of event types, groups and feature flags.
std::string check_name(std::string_view text);
std::string check_channel(std::string_view text);
std::string check_tag(std::string_view text);
std::string check_session(std::string_view text);
/// At least one character, none of them a control character.
std::string check_application_name(std::string_view text);
std::string check_integration_name(std::string_view text);
/// May be empty.
std::string check_description(std::string_view text);
std::string check_filter_text(std::string_view text);

/// Of an endpoint, or, `of_message`, of a message: that may have a Content-Type.
std::string check_header_name(std::string_view name, bool of_message);
std::string check_header_value(std::string_view value);
inline constexpr std::size_t headers_max = 50;
/// Its value is never shown.
bool is_sensitive_header(std::string_view name);

}  // namespace hk::api::svix
