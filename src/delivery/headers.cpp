#include "delivery/headers.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/json_string.h"

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
/// Of messages that came by an inbound source.
constexpr std::string_view names_of_sources[] = {
    "hikyaku-source",      "hikyaku-event-id",   "hikyaku-event-type",
    "hikyaku-received-at", "hikyaku-unverified",
};
constexpr std::string_view prefix_of_services = "webhook-";  // their signatures

constexpr std::string_view methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};

/// U+0080 to U+009F. REQUIRES: valid UTF-8, where this byte begins a character of two bytes only.
bool has_c1_control(std::string_view text) {
  for (std::size_t at = text.find('\xc2'); at != std::string_view::npos;
       at = text.find('\xc2', at + 1)) {
    if (static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<void> may_forward(std::string_view name, std::string_view value) {
  if (!is_token(name)) {
    return fail(ErrorKind::invalid_argument,
                "a forwarded header has an invalid name: letters, digits and !#$%&'*+-.^_`|~ only");
  }
  if (is_reserved(name)) {
    return fail(ErrorKind::invalid_argument, "the header '" + std::string(name) +
                                                 "' is set by the server and cannot be forwarded");
  }
  if (!safe_value(value)) {
    return fail(ErrorKind::invalid_argument,
                "the value of the forwarded header '" + std::string(name) +
                    "' may hold UTF-8 without control characters only");
  }
  return {};
}

bool is_reserved(std::string_view name) {
  return std::ranges::any_of(reserved_names,
                             [&](auto one) { return equals_ignoring_case(name, one); }) ||
         std::ranges::any_of(reserved_prefixes,
                             [&](auto one) { return starts_with_ignoring_case(name, one); });
}

Result<void> may_send(std::string_view name, std::string_view value) {
  const bool of_source = starts_with_ignoring_case(name, prefix_of_services) ||
                         std::ranges::any_of(names_of_sources, [&](auto one) {
                           return equals_ignoring_case(name, one);
                         });
  return of_source && is_token(name) && safe_value(value) ? Result<void>{}
                                                          : may_forward(name, value);
}

bool safe_value(std::string_view value) {
  if (!std::ranges::all_of(value, is_value_char)) {
    return false;
  }
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  return std::ranges::all_of(value, is_ascii) || (valid_utf8(value) && !has_c1_control(value));
}

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
  if (auto safe = may_send(name, value); !safe) {
    return safe;
  }
  ++fields_;
  bytes_ += name.size() + value.size();
  if (fields_ > fields_max_) {
    return fail(ErrorKind::limit_exceeded,
                "more than " + std::to_string(fields_max_) + " forwarded headers");
  }
  if (bytes_ > bytes_max_) {
    return fail(ErrorKind::limit_exceeded, "the forwarded headers are larger than " +
                                               std::to_string(bytes_max_ / 1024) + " KiB together");
  }
  return {};
}

}  // namespace hk::delivery
