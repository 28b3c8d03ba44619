/// Signatures of webhooks, as senders make them and receivers check them: those of Standard
/// Webhooks (v1, v1a) and the layout of Stripe. Pure functions but for make_secret(); callable from
/// any thread. Nothing else in the server makes or reads these secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace hk::security {

struct WebhookSecret {
  enum class Kind : std::uint8_t {
    symmetric,  ///< whsec_: both sides have it. Signs v1 and the layout of Stripe
    signing,    ///< whsk_: the sender's half of an ed25519 pair. Signs v1a
    verifying,  ///< whpk_: the receiver's half
  };
  static constexpr std::size_t bytes_min = 24;  ///< of a symmetric key
  static constexpr std::size_t bytes_max = 75;

  Kind kind = Kind::symmetric;
  Secret text{};  ///< with its prefix
  Secret key{};   ///< the bytes: the key of the HMAC, the seed, or the public key
};

/// `whsec_`, `whsk_` or `whpk_` and base64; without a prefix it is taken for whsec_. The text of
/// the result is the one given, with its prefix. invalid_argument: what is wrong with it.
Result<WebhookSecret> parse_secret(std::string_view text);
/// A symmetric one of 24 random bytes.
WebhookSecret make_secret();
/// `whpk_…`, for receivers. REQUIRES: it is signing or verifying.
std::string public_key_text(const WebhookSecret& secret);

/// What is signed: id, full stop, timestamp, full stop, body.
struct SignedContent {
  std::string_view id{};
  std::string_view timestamp{};  ///< seconds since 1970, as the header has it
  std::string_view body{};       ///< the bytes that are sent
};

/// Appends `v1,<base64>`. REQUIRES: it is symmetric.
void sign_v1(std::string& out, const WebhookSecret& secret, const SignedContent& content);
/// Appends `v1a,<base64>`. REQUIRES: it is signing.
void sign_v1a(std::string& out, const WebhookSecret& secret, const SignedContent& content);
/// Appends the value of `webhook-signature`: an entry for each, in their order, with spaces
/// between. REQUIRES: none is verifying.
void sign_standard(std::string& out, std::span<const WebhookSecret> secrets,
                   const SignedContent& content);
/// Appends the value of `Stripe-Signature`: `t=<timestamp>,v1=<hex>[,v1=<hex>…]`. The key is the
/// whole text, its prefix included. REQUIRES: all are symmetric.
void sign_stripe(std::string& out, std::span<const WebhookSecret> secrets,
                 std::string_view timestamp, std::string_view body);

/// Does the base64 behind `v1,` belong to it? In constant time. REQUIRES: it is symmetric.
bool matches_v1(const WebhookSecret& secret, const SignedContent& content,
                std::string_view signature);
/// The same behind `v1a,`. REQUIRES: it is signing or verifying.
bool matches_v1a(const WebhookSecret& secret, const SignedContent& content,
                 std::string_view signature);

}  // namespace hk::security
