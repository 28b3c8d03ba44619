#include "api/cursor.h"

#include "api/text.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "base/time.h"
#include "security/digest.h"

namespace hk::api {

namespace {

std::string seal_of(const CursorScope& scope, std::string_view place) {
  std::string covered = "hikyaku-cursor";
  covered += static_cast<char>(scope.listing);
  covered += scope.latest_first ? 'l' : 'e';
  append_be(covered, scope.tenant.value());
  covered += place;
  const security::Digest256 digest = security::sha256(covered);
  return hex(std::string(digest.begin(), digest.begin() + 6));
}

}  // namespace

std::string encode_cursor(const CursorScope& scope, const CursorPlace& place) {
  std::string text;
  for (const std::uint64_t number : place) {
    text += std::to_string(number);
    text += '-';
  }
  return text + seal_of(scope, text);
}

std::optional<CursorPlace> decode_cursor(const CursorScope& scope, std::string_view text) {
  const std::size_t last = text.rfind('-');
  if (last == std::string_view::npos ||
      text.substr(last + 1) != seal_of(scope, text.substr(0, last + 1))) {
    return std::nullopt;
  }
  CursorPlace place{};
  for (std::uint64_t& number : place) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
      return std::nullopt;
    }
    const std::optional<std::uint64_t> read = parse_unsigned(text.substr(0, dash));
    if (!read) {
      return std::nullopt;
    }
    number = *read;
    text.remove_prefix(dash + 1);
  }
  if (place[0] > static_cast<std::uint64_t>(to_ms(never))) {  // the seal is no secret
    return std::nullopt;
  }
  return place;
}

}  // namespace hk::api
