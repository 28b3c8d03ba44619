#include "security/webhook_signature.h"

#include <openssl/crypto.h>

#include <array>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/encoding.h"
#include "security/credentials.h"
#include "security/digest.h"
#include "security/ed25519.h"

namespace hk::security {
namespace {

using Kind = WebhookSecret::Kind;

constexpr std::string_view symmetric_prefix = "whsec_";
constexpr std::string_view signing_prefix = "whsk_";
constexpr std::string_view verifying_prefix = "whpk_";
constexpr std::size_t ed25519_half_bytes = 32;

/// Also without the padding, which many leave out.
std::optional<Secret> secret_bytes(std::string_view text) {
  std::string padded(text);
  if (!text.ends_with('=')) {
    padded.append((4 - text.size() % 4) % 4, '=');
  }
  std::optional<std::string> bytes = unbase64(padded);
  OPENSSL_cleanse(padded.data(), padded.size());
  return bytes ? std::optional(Secret(std::move(*bytes))) : std::nullopt;
}

std::unexpected<Error> bad_secret(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<WebhookSecret> parse_symmetric(std::string_view text, std::string_view encoded) {
  std::optional<Secret> key = secret_bytes(encoded);
  if (!key) {
    return bad_secret("a webhook secret is whsec_ and base64; what follows the prefix is none");
  }
  const std::size_t size = key->reveal().size();
  if (size < WebhookSecret::bytes_min || size > WebhookSecret::bytes_max) {
    return bad_secret("a whsec_ secret is the base64 of 24 to 75 bytes; this one has " +
                      std::to_string(size));
  }
  return WebhookSecret{
      .kind = Kind::symmetric, .text = Secret(std::string(text)), .key = std::move(*key)};
}

Result<WebhookSecret> parse_signing(std::string_view text, std::string_view encoded) {
  std::optional<Secret> key = secret_bytes(encoded);
  const std::size_t size = key ? key->reveal().size() : 0;
  if (size != ed25519_half_bytes && size != 2 * ed25519_half_bytes) {
    return bad_secret(
        "a whsk_ secret is the base64 of an ed25519 secret key: 32 bytes, or 64 with the public "
        "key");
  }
  Secret seed(std::string(key->reveal().substr(0, ed25519_half_bytes)));
  if (size != ed25519_half_bytes &&
      ed25519_public_key(seed) != key->reveal().substr(ed25519_half_bytes)) {
    return bad_secret("the public half in this whsk_ secret does not belong to its secret half");
  }
  return WebhookSecret{
      .kind = Kind::signing, .text = Secret(std::string(text)), .key = std::move(seed)};
}

Result<WebhookSecret> parse_verifying(std::string_view text, std::string_view encoded) {
  std::optional<Secret> key = secret_bytes(encoded);
  if (!key || key->reveal().size() != ed25519_half_bytes) {
    return bad_secret("a whpk_ key is the base64 of an ed25519 public key: 32 bytes");
  }
  return WebhookSecret{
      .kind = Kind::verifying, .text = Secret(std::string(text)), .key = std::move(*key)};
}

Digest256 v1_mac(const WebhookSecret& secret, const SignedContent& content) {
  HK_ASSERT(secret.kind == Kind::symmetric);
  const std::array<std::string_view, 5> parts = {content.id, ".", content.timestamp, ".",
                                                 content.body};
  return hmac_sha256(secret.key.reveal(), parts);
}

std::string_view view_of(const Digest256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string v1a_text(const SignedContent& content) {
  std::string text;
  text.reserve(content.id.size() + content.timestamp.size() + content.body.size() + 2);
  text += content.id;
  text += '.';
  text += content.timestamp;
  text += '.';
  text += content.body;
  return text;
}

}  // namespace

Result<WebhookSecret> parse_secret(std::string_view text) {
  if (text.starts_with(symmetric_prefix)) {
    return parse_symmetric(text, text.substr(symmetric_prefix.size()));
  }
  if (text.starts_with(signing_prefix)) {
    return parse_signing(text, text.substr(signing_prefix.size()));
  }
  if (text.starts_with(verifying_prefix)) {
    return parse_verifying(text, text.substr(verifying_prefix.size()));
  }
  return parse_symmetric(std::string(symmetric_prefix).append(text), text);
}

WebhookSecret make_secret() {
  std::array<char, WebhookSecret::bytes_min> random{};
  fill_random(random.data(), random.size());
  std::string text(symmetric_prefix);
  append_base64(text, std::string_view(random.data(), random.size()));
  WebhookSecret secret{.kind = Kind::symmetric,
                       .text = Secret(std::move(text)),
                       .key = Secret(std::string(random.data(), random.size()))};
  OPENSSL_cleanse(random.data(), random.size());
  return secret;
}

std::string public_key_text(const WebhookSecret& secret) {
  HK_ASSERT(secret.kind != Kind::symmetric);
  std::string text(verifying_prefix);
  append_base64(text, secret.kind == Kind::signing ? ed25519_public_key(secret.key)
                                                   : std::string(secret.key.reveal()));
  return text;
}

void sign_v1(std::string& out, const WebhookSecret& secret, const SignedContent& content) {
  out += "v1,";
  append_base64(out, view_of(v1_mac(secret, content)));
}

void sign_v1a(std::string& out, const WebhookSecret& secret, const SignedContent& content) {
  HK_ASSERT(secret.kind == Kind::signing);
  out += "v1a,";
  append_base64(out, ed25519_sign(secret.key, v1a_text(content)));
}

void sign_standard(std::string& out, std::span<const WebhookSecret> secrets,
                   const SignedContent& content) {
  bool first = true;
  for (const WebhookSecret& secret : secrets) {
    if (!std::exchange(first, false)) {
      out += ' ';
    }
    if (secret.kind == Kind::symmetric) {
      sign_v1(out, secret, content);
    } else {
      sign_v1a(out, secret, content);
    }
  }
}

void sign_stripe(std::string& out, std::span<const WebhookSecret> secrets,
                 std::string_view timestamp, std::string_view body) {
  out += "t=";
  out += timestamp;
  for (const WebhookSecret& secret : secrets) {
    HK_ASSERT(secret.kind == Kind::symmetric);
    const std::array<std::string_view, 3> parts = {timestamp, ".", body};
    out += ",v1=";
    append_hex(out, view_of(hmac_sha256(secret.text.reveal(), parts)));
  }
}

bool matches_v1(const WebhookSecret& secret, const SignedContent& content,
                std::string_view signature) {
  const auto given = unbase64(signature);
  return given && constant_time_equal(*given, view_of(v1_mac(secret, content)));
}

bool matches_v1a(const WebhookSecret& secret, const SignedContent& content,
                 std::string_view signature) {
  HK_ASSERT(secret.kind != Kind::symmetric);
  const auto given = unbase64(signature);
  return given && ed25519_verify(secret.kind == Kind::signing ? ed25519_public_key(secret.key)
                                                              : std::string(secret.key.reveal()),
                                 v1a_text(content), *given);
}

}  // namespace hk::security
