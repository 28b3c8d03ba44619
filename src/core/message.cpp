#include "core/message.h"

#include "base/assert.h"

namespace hk::core {

namespace {

// In ASCII order, so that the texts of ids sort as the ids do.
constexpr std::string_view alphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view prefix = "msg_";
constexpr std::size_t digits = 11;  // 62^11 > 2^64

void append_base62(std::string& out, std::uint64_t value) {
  char text[digits];
  for (std::size_t i = digits; i-- > 0;) {
    text[i] = alphabet[value % 62];
    value /= 62;
  }
  out.append(text, digits);
}

std::optional<std::uint64_t> parse_base62(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos || value > (UINT64_MAX - digit) / 62) {
      return std::nullopt;
    }
    value = value * 62 + digit;
  }
  return value;
}

}  // namespace

std::string to_text(MessageId id) {
  HK_ASSERT(id.seq.value() != 0);
  std::string text;
  text.reserve(prefix.size() + 2 * digits);
  text += prefix;
  append_base62(text, id.seq.value());
  append_base62(text, id.nonce);
  return text;
}

std::optional<MessageId> parse_message_id(std::string_view text) {
  if (text.size() != prefix.size() + 2 * digits || !text.starts_with(prefix)) {
    return std::nullopt;
  }
  const auto seq = parse_base62(text.substr(prefix.size(), digits));
  const auto nonce = parse_base62(text.substr(prefix.size() + digits));
  if (!seq || !nonce || *seq == 0) {
    return std::nullopt;
  }
  return MessageId{Seq{*seq}, *nonce};
}

}  // namespace hk::core
