#include <openssl/crypto.h>

#include <array>

#include "base/encoding.h"
#include "security/credentials.h"
#include "security/digest.h"

namespace hk::security {
namespace {

constexpr std::string_view letters_and_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t random_characters = 43;  // base64url of 32 bytes
constexpr std::size_t checksum_characters = 6;
constexpr std::string_view token_prefix = "hk_";

/// CRC-32C in base 62, filled up with zeroes: a scanner can tell a token from a text that looks
/// like one without asking us.
std::string checksum(std::string_view text) {
  std::uint32_t rest = crc32c(text);
  std::string out(checksum_characters, '0');
  for (std::size_t i = checksum_characters; i-- > 0;) {
    out[i] = letters_and_digits[rest % 62];
    rest /= 62;
  }
  return out;
}

std::string random_text(std::string_view start, std::string_view alphabet, std::size_t characters) {
  // Above it some characters would come up more often.
  const std::size_t fair = 256 / alphabet.size() * alphabet.size();
  const std::size_t size = start.size() + characters;
  std::string text;
  text.reserve(size);
  text += start;
  while (text.size() < size) {
    std::array<unsigned char, 32> random{};
    fill_random(random.data(), random.size());
    for (const unsigned char byte : random) {
      if (byte < fair && text.size() < size) {
        text.push_back(alphabet[byte % alphabet.size()]);
      }
    }
    OPENSSL_cleanse(random.data(), random.size());
  }
  return text;
}

}  // namespace

Secret make_token(std::string_view kind) {
  std::array<char, 32> random{};
  fill_random(random.data(), random.size());
  std::string text = std::string(token_prefix) + std::string(kind) + "_";
  text += base64url(std::string_view(random.data(), random.size()));
  text += checksum(text);
  OPENSSL_cleanse(random.data(), random.size());
  return Secret(std::move(text));
}

bool looks_like_token(std::string_view text) {
  constexpr std::size_t tail = random_characters + checksum_characters;
  if (!text.starts_with(token_prefix) || text.size() < token_prefix.size() + 2 + tail ||
      text[text.size() - tail - 1] != '_') {
    return false;
  }
  const std::string_view body = text.substr(0, text.size() - checksum_characters);
  return unbase64url(body.substr(body.size() - random_characters)).has_value() &&
         text.substr(body.size()) == checksum(body);
}

Secret make_signing_key() { return Secret(random_text("sig_", letters_and_digits, 28)); }

std::string make_access_key_id() {
  return random_text("HK", letters_and_digits.substr(0, 36), 18);  // no lower-case letters
}

Secret make_access_key_secret() { return Secret(random_text("", letters_and_digits, 40)); }

}  // namespace hk::security
