#include "delivery/envelope/signer.h"

#include <charconv>

#include "base/assert.h"
#include "base/encoding.h"
#include "base/json_string.h"
#include "security/digest.h"

namespace hk::delivery {
namespace {

// base64url of {"alg":"HS256","typ":"JWT"}, the same in every token.
constexpr std::string_view head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.";
constexpr std::int64_t lifetime_seconds = 300;

void append_number(std::string& out, std::int64_t value) {
  char digits[20];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
  HK_ASSERT(error == std::errc{});
  out.append(digits, end);
}

void append_hex(std::string& out, std::uint64_t value) {
  char digits[16];
  for (std::size_t i = 16; i-- != 0; value >>= 4U) {
    digits[i] = "0123456789abcdef"[value & 0xfU];
  }
  out.append(digits, 16);
}

std::string_view bytes_of(const security::Digest256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

void Signer::append_token(std::string& out, const Secret& key, const SignedContent& content) {
  HK_ASSERT(!key.empty());
  claims_.clear();
  claims_.append(R"({"iss":"Upstash","sub":)");
  append_json_string(claims_, content.url);
  claims_.append(R"(,"exp":)");
  append_number(claims_, content.issued_at + lifetime_seconds);
  claims_.append(R"(,"nbf":0,"iat":)");
  append_number(claims_, content.issued_at);
  claims_.append(R"(,"jti":"jwt_)");
  append_hex(claims_, random_.next());
  append_hex(claims_, random_.next());
  claims_.append(R"(","body":")");
  append_base64url(claims_, bytes_of(security::sha256(content.body)));
  claims_.append(R"(=","fence":")");  // the documented form of `body` is padded
  claims_.append(fence_text(content.partition, content.fence));
  claims_.append(R"(","attempt":)");
  append_number(claims_, content.fence.attempt);
  claims_.push_back('}');

  const std::size_t begin = out.size();
  out.append(head);
  append_base64url(out, claims_);
  const auto mac = security::hmac_sha256(key.reveal(), std::string_view(out).substr(begin));
  out.push_back('.');
  append_base64url(out, bytes_of(mac));
}

}  // namespace hk::delivery
