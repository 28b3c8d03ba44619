#include "api/svix/rules.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "core/webhook/id.h"
#include "net/header.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t channel_bytes_max = 128;
constexpr std::size_t session_bytes_max = 64;
constexpr std::size_t description_bytes_max = 4096;
constexpr std::size_t header_value_bytes_max = 4096;

bool consists_of(std::string_view text, std::string_view more) {
  return std::ranges::all_of(
      text, [more](char c) { return is_letter(c) || is_digit(c) || more.contains(c); });
}

std::string check_chars(std::string_view text, std::string_view more, std::size_t most) {
  if (!text.empty() && text.size() <= most && consists_of(text, more)) {
    return {};
  }
  return "must have 1 to " + std::to_string(most) + " characters: letters, digits and " +
         std::string(more);
}

std::string check_uid(std::string_view text, std::string_view prefix) {
  if (core::webhook::may_be_uid(text, prefix)) {
    return {};
  }
  return "must have 1 to 256 characters: letters, digits and -_. , and must not begin with " +
         std::string(prefix);
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string check_text(std::string_view text, std::size_t least, std::size_t most) {
  if (text.size() < least) {
    return "must not be empty";
  }
  if (text.size() > most) {
    return "must have at most " + std::to_string(most) + " bytes";
  }
  return has_control(text) ? "must not have control characters" : "";
}

constexpr std::array<std::string_view, 24> forbidden_names = {"user-agent",
                                                              "keep-alive",
                                                              "proxy-authenticate",
                                                              "proxy-authorization",
                                                              "te",
                                                              "trailers",
                                                              "transfer-encoding",
                                                              "upgrade",
                                                              "age",
                                                              "cache-control",
                                                              "clear-site-data",
                                                              "expires",
                                                              "pragma",
                                                              "warning",
                                                              "content-length",
                                                              "content-encoding",
                                                              "content-language",
                                                              "content-location",
                                                              "host",
                                                              "connection",
                                                              "expect",
                                                              "idempotency-key",
                                                              "traceparent",
                                                              "tracestate"};
constexpr std::array<std::string_view, 12> forbidden_prefixes = {
    "x-amz-", "x-amzn-", "x-google", "x-goog-",  "x-gfe",    "x-azure-",
    "x-fd-",  "x-svix-", "svix-",    "webhook-", "hikyaku-", "upstash-"};
constexpr std::array<std::string_view, 6> sensitive_names = {
    "x-auth-token",  "x-api-key",          "www-authenticate",
    "authorization", "proxy-authenticate", "proxy-authorization"};

bool is_among(std::string_view name, const auto& names) {
  return std::ranges::any_of(
      names, [name](std::string_view one) { return equals_ignoring_case(one, name); });
}

}  // namespace

std::string check_application_uid(std::string_view text) {
  return check_uid(text, core::webhook::application_prefix);
}
std::string check_endpoint_uid(std::string_view text) {
  return check_uid(text, core::webhook::endpoint_prefix);
}
std::string check_event_id(std::string_view text) {
  return check_uid(text, core::webhook::event_prefix);
}
std::string check_name(std::string_view text) { return check_chars(text, "-_.", name_bytes_max); }
std::string check_channel(std::string_view text) {
  return check_chars(text, "-_.:+", channel_bytes_max);
}
std::string check_tag(std::string_view text) {
  return check_chars(text, "-_./\\#", channel_bytes_max);
}
std::string check_session(std::string_view text) {
  return check_chars(text, "@_-", session_bytes_max);
}
std::string check_application_name(std::string_view text) {
  return check_text(text, 1, name_bytes_max);
}
std::string check_integration_name(std::string_view text) {
  return check_text(text, 1, name_bytes_max);
}
std::string check_description(std::string_view text) {
  return check_text(text, 0, description_bytes_max);
}
std::string check_filter_text(std::string_view text) { return check_text(text, 0, name_bytes_max); }

std::string check_header_name(std::string_view name, bool of_message) {
  if (!is_token(name)) {
    return "is no legal name of a header";
  }
  const bool content_type = equals_ignoring_case(name, "content-type");
  const bool prefixed = std::ranges::any_of(forbidden_prefixes, [name](std::string_view one) {
    return starts_with_ignoring_case(name, one);
  });
  if ((content_type && !of_message) || prefixed || is_among(name, forbidden_names)) {
    return "is a header that cannot be set";
  }
  return {};
}

std::string check_header_value(std::string_view value) {
  if (value.size() > header_value_bytes_max) {
    return "must have at most " + std::to_string(header_value_bytes_max) + " bytes";
  }
  return net::safe_header("x", value) ? ""
                                      : "must not have control characters, nor spaces at its ends";
}

bool is_sensitive_header(std::string_view name) { return is_among(name, sensitive_names); }

}  // namespace hk::api::svix
