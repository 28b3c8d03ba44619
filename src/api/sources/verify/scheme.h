/// How a source says that requests must be verified, and with which secrets. Made once, when a
/// source is loaded or its settings are read. Plain data.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/sources/verify/pointer.h"
#include "api/sources/verify/template.h"
#include "base/secret.h"
#include "base/time.h"
#include "security/digest.h"
#include "security/webhook_signature.h"

namespace hk::api::sources {

enum class Preset : std::uint8_t {
  stripe,
  github,
  shopify,
  slack,
  standard,
  qstash,
  twitter,
  meta,
  msgraph,
  hmac,
  basic,
  apikey,
  none,
};
inline constexpr std::array<std::string_view, 13> preset_names = {
    "stripe", "github",  "shopify", "slack", "standard", "qstash", "twitter",
    "meta",   "msgraph", "hmac",    "basic", "apikey",   "none"};
constexpr std::string_view name_of(Preset preset) {
  return preset_names[static_cast<std::size_t>(preset)];
}

enum class SignatureText : std::uint8_t { hex, base64, base64url };
enum class KeyText : std::uint8_t { utf8, hex, base64 };

/// Of the preset `hmac`.
struct HmacScheme {
  security::Hash hash = security::Hash::sha256;
  SignatureText encoding = SignatureText::hex;
  std::string header{};
  std::string prefix{};     ///< of each signature
  std::string separator{};  ///< between several; "": there is one
  SignedText signed_text{};
  std::string timestamp_header{};  ///< "": none
  bool milliseconds = false;
  KeyText key = KeyText::utf8;
};

/// Where the id or the type of an event is.
struct Locator {
  enum class Kind : std::uint8_t { preset, header, body, content, none, fixed };
  Kind kind = Kind::preset;
  std::string text{};  ///< name of the header, the pointer, or the fixed text
  Pointer pointer{};
};

struct Scheme {
  Preset preset = Preset::none;
  std::chrono::seconds tolerance{300};
  Locator event_id{};
  Locator event_type{};
  std::string url{};       ///< qstash, hmac: the public URL of the source; "": it does not count
  std::string username{};  ///< basic
  std::string header{};    ///< apikey
  std::string query{};     ///< apikey
  std::string verify_token{};  ///< meta
  std::optional<HmacScheme> hmac{};
};

/// A secret as its preset uses it.
struct Key {
  std::string id{};
  Secret text{};   ///< as it was given
  Secret bytes{};  ///< the key
  /// standard: the other kinds, which are no key of a MAC.
  std::optional<security::WebhookSecret> pair{};
  Moment expires_at{never};

  [[nodiscard]] bool live(Moment at) const { return expires_at > at; }
};

/// invalid_argument: it is none for that scheme.
Result<Key> make_key(const Scheme& scheme, std::string id, const Secret& text, Moment expires_at);

}  // namespace hk::api::sources
