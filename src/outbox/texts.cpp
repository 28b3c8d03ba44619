#include "outbox/texts.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/ascii.h"
#include "base/json_string.h"
#include "outbox/is_json.h"

namespace hk::outbox {
namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";
constexpr std::size_t response_depth_max = 64;

/// The bytes of the well-formed character at `at`, 0 when there is none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  for (std::size_t bytes = 1; bytes <= 4 && at + bytes <= text.size(); ++bytes) {
    if (valid_utf8(text.substr(at, bytes))) {
      return bytes;
    }
  }
  return 0;
}

/// U+0000 is JSON, and nothing that a text of PostgreSQL can hold.
bool fits_jsonb(std::string_view text) {
  return valid_utf8(text) && text.find("\\u0000") == std::string_view::npos &&
         is_json(text, response_depth_max);
}

}  // namespace

std::string clean_text(std::string_view bytes) {
  if (bytes.find('\0') == std::string_view::npos && valid_utf8(bytes)) {
    return std::string(bytes);
  }
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t width = bytes[at] == '\0' ? 0 : character_bytes(bytes, at);
    out += width == 0 ? replacement_character : bytes.substr(at, width);
    at += std::max<std::size_t>(width, 1);
  }
  return out;
}

std::string plain_text(std::string_view bytes) {
  std::string out(bytes);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

std::string response_json(std::string_view bytes) {
  if (bytes.empty()) {
    return "";
  }
  if (fits_jsonb(bytes)) {
    return std::string(bytes);
  }
  std::string out;
  append_json_string(out, clean_text(bytes));
  return out;
}

Result<std::vector<Header>> parse_headers(std::string_view json) {
  const auto refuse = [] {
    return fail(
        ErrorKind::invalid_argument,
        "the row's headers are not a JSON object of strings, such as {\"X-Kind\": \"order\"}");
  };
  if (json.empty()) {
    return std::vector<Header>{};
  }
  boost::json::error_code error;
  const boost::json::value parsed =
      boost::json::parse(boost::json::string_view(json.data(), json.size()), error);
  if (error || (!parsed.is_object() && !parsed.is_null())) {
    return refuse();
  }
  std::vector<Header> headers;
  if (parsed.is_null()) {
    return headers;
  }
  for (const auto& [name, value] : parsed.get_object()) {
    if (value.is_string()) {
      headers.push_back({std::string(name), std::string(value.get_string())});
      continue;
    }
    if (!value.is_array()) {
      return refuse();
    }
    for (const boost::json::value& one : value.get_array()) {
      if (!one.is_string()) {
        return refuse();
      }
      headers.push_back({std::string(name), std::string(one.get_string())});
    }
  }
  return headers;
}

std::optional<bool> says_json(const std::vector<Header>& headers) {
  for (const Header& header : headers) {
    if (equals_ignoring_case(header.name, "content-type")) {
      const std::string_view value = header.value;
      const std::string type = lower_case(trim(value.substr(0, value.find(';'))));
      return type.ends_with("/json") || type.ends_with("+json");
    }
  }
  return std::nullopt;
}

}  // namespace hk::outbox
