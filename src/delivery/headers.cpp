#include "delivery/headers.h"

#include <algorithm>
#include <string>

namespace hk::delivery {
namespace {

/// In lower case. Framing and connection control would let a publisher smuggle a second request;
/// the others are what receivers trust us for.
constexpr std::string_view reserved_names[] = {
    "host",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "connection",
    "keep-alive",
    "upgrade",
    "http2-settings",
    "expect",
    "upstash-signature",
    "upstash-message-id",
    "upstash-retried",
    "upstash-caller-ip",
};
constexpr std::string_view reserved_prefixes[] = {"proxy-", "webhook-", "hikyaku-"};

constexpr std::string_view methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_token_char(char c) {
  const char l = lower(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_value_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte <= 0x7e);
}

/// REQUIRES: prefix is in lower case.
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && same_name(text.substr(0, prefix.size()), prefix);
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return x == y || lower(x) == lower(y);
         });
}

Result<void> safe_header(std::string_view name, std::string_view value) {
  if (name.empty() || !std::ranges::all_of(name, is_token_char)) {
    return fail(ErrorKind::invalid_argument,
                "a forwarded header has an invalid name: letters, digits and !#$%&'*+-.^_`|~ only");
  }
  const bool reserved =
      std::ranges::any_of(reserved_names, [&](auto one) { return same_name(name, one); }) ||
      std::ranges::any_of(reserved_prefixes,
                          [&](auto one) { return starts_with_ignoring_case(name, one); });
  if (reserved) {
    return fail(ErrorKind::invalid_argument, "the header '" + std::string(name) +
                                                 "' is set by the server and cannot be forwarded");
  }
  if (!safe_value(value)) {
    return fail(ErrorKind::invalid_argument, "the value of the forwarded header '" +
                                                 std::string(name) +
                                                 "' may hold visible ASCII, spaces and tabs only");
  }
  return {};
}

bool safe_value(std::string_view value) { return std::ranges::all_of(value, is_value_char); }

Result<void> safe_method(std::string_view method) {
  if (std::ranges::find(methods, method) == std::end(methods)) {
    return fail(ErrorKind::invalid_argument,
                "the method must be GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS");
  }
  return {};
}

bool safe_target(std::string_view target) {
  return target.starts_with('/') && std::ranges::all_of(target, [](char c) {
           return c > 0x20 && c < 0x7f && c != '#' && c != '\\';
         });
}

Result<void> ForwardedHeaders::add(std::string_view name, std::string_view value) {
  if (auto safe = safe_header(name, value); !safe) {
    return safe;
  }
  ++fields_;
  bytes_ += name.size() + value.size();
  if (fields_ > forwarded_fields_max) {
    return fail(ErrorKind::limit_exceeded, "more than 64 forwarded headers");
  }
  if (bytes_ > forwarded_bytes_max) {
    return fail(ErrorKind::limit_exceeded, "the forwarded headers are larger than 16 KiB together");
  }
  return {};
}

}  // namespace hk::delivery
