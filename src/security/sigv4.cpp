#include "security/sigv4.h"

#include <algorithm>

#include "base/encoding.h"
#include "security/digest.h"

namespace hk::security {
namespace {

std::string_view digest_bytes(const Digest256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string hex_sha256(std::string_view bytes) { return hex(digest_bytes(sha256(bytes))); }

void append_uri_encoded(std::string& out, std::string_view text, char kept) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c) || (kept != '\0' && c == kept)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    }
  }
}

void append_canonical_value(std::string& out, std::string_view value) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const char* at = value.data();
  const char* const end = at + value.size();
  for (bool first = true; true; first = false) {
    const char* const word = std::find_if_not(at, end, is_blank);
    if (word == end) {
      return;
    }
    at = std::find_if(word, end, is_blank);
    if (!first) {
      out += ' ';
    }
    out.append(word, at);
  }
}

std::string string_to_sign(std::string_view date_time, std::string_view scope,
                           std::string_view canonical) {
  std::string text = "AWS4-HMAC-SHA256\n";
  text.append(date_time).append("\n").append(scope).append("\n").append(hex_sha256(canonical));
  return text;
}

Secret derive_signing_key(const Secret& secret, std::string_view day, std::string_view region,
                          std::string_view service) {
  Secret key{"AWS4" + std::string(secret.reveal())};
  for (const std::string_view part : {day, region, service, std::string_view("aws4_request")}) {
    key = Secret(std::string(digest_bytes(hmac_sha256(key.reveal(), part))));
  }
  return key;
}

std::string sign_text(const Secret& signing_key, std::string_view text) {
  return hex(digest_bytes(hmac_sha256(signing_key.reveal(), text)));
}

}  // namespace hk::security
