#include "core/message.h"

#include <array>

#include "base/assert.h"
#include "core/message/record.h"

namespace hk::core {

namespace {

// In ASCII order, so that the texts of ids sort as the ids do.
constexpr std::string_view id_alphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view prefix = "msg_";
constexpr std::size_t id_digits = 11;  // 62^11 > 2^64
constexpr std::size_t uuid_size = 36;

void append_base62(std::string& out, std::uint64_t value) {
  char text[id_digits];
  for (std::size_t i = id_digits; i-- > 0;) {
    text[i] = id_alphabet[value % 62];
    value /= 62;
  }
  out.append(text, id_digits);
}

std::optional<std::uint64_t> parse_base62(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::size_t digit = id_alphabet.find(c);
    if (digit == std::string_view::npos || value > (UINT64_MAX - digit) / 62) {
      return std::nullopt;
    }
    value = value * 62 + digit;
  }
  return value;
}

/// As clients of SQS know it: both numbers in hexadecimal, "00000000-0000-0001-…".
std::optional<MessageId> parse_uuid(std::string_view text) {
  std::array<std::uint64_t, 2> halves{};
  std::size_t digit = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') {
        return std::nullopt;
      }
      continue;
    }
    const std::size_t value = std::string_view("0123456789abcdef").find(text[i]);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    std::uint64_t& half = halves[digit++ / 16];
    half = (half << 4U) | value;
  }
  return halves[0] == 0 ? std::nullopt : std::optional(MessageId{Seq{halves[0]}, halves[1]});
}

}  // namespace

std::string to_text(MessageId id) {
  HK_ASSERT(id.seq.value() != 0);
  std::string text;
  text.reserve(prefix.size() + 2 * id_digits);
  text += prefix;
  append_base62(text, id.seq.value());
  append_base62(text, id.nonce);
  return text;
}

std::string uuid_text(MessageId id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {id.seq.value(), id.nonce}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += digits[(half >> static_cast<unsigned>(shift)) & 15U];
    }
  }
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    text.insert(at, 1, '-');
  }
  return text;
}

std::string sequence_text(MessageId id) {
  const std::string digits = std::to_string(id.seq.value());
  return std::string(20 - digits.size(), '0') + digits;
}

std::string fence_text(PartitionId partition, const Fence& fence) {
  return std::to_string(partition.value()) + '.' + std::to_string(fence.epoch) + '.' +
         std::to_string(fence.attempt);
}

std::optional<MessageId> parse_message_id(std::string_view text) {
  if (text.size() == uuid_size) {
    return parse_uuid(text);
  }
  if (text.size() != prefix.size() + 2 * id_digits || !text.starts_with(prefix)) {
    return std::nullopt;
  }
  const auto seq = parse_base62(text.substr(prefix.size(), id_digits));
  const auto nonce = parse_base62(text.substr(prefix.size() + id_digits));
  if (!seq || !nonce || *seq == 0) {
    return std::nullopt;
  }
  return MessageId{Seq{*seq}, *nonce};
}

bool made_by_qstash(const Message& message) {
  return !message.pull && !message.notification && !message.webhook;
}

}  // namespace hk::core
