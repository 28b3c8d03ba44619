/// AWS Signature Version 4: what a request says about who signed it, and whether that is true. The
/// caller parses, looks the access key up, and verifies; nothing here does I/O or reads a clock.
/// Pure, except for the cache of keys, of which every I/O thread has its own.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/aws/errors.h"
#include "base/secret.h"
#include "base/time.h"
#include "edge/http/message.h"

namespace hk::api::aws {

/// For whom, when and where a signature is good: "<access key>/<day>/<region>/<service>/...".
struct CredentialScope {
  std::string access_key{};
  std::string day{};  ///< yyyymmdd
  std::string region{};
  std::string service{};

  friend auto operator<=>(const CredentialScope&, const CredentialScope&) = default;
};

struct Signature {
  CredentialScope scope{};
  std::string terminator{};  ///< "aws4_request" in a good one
  std::string date_time{};   ///< yyyymmddThhmmssZ
  Moment signed_at{};        ///< the same
  std::vector<std::string> signed_headers{};
  std::string signature{};  ///< hexadecimal
  std::string security_token{};
  std::optional<std::chrono::seconds> expires{};  ///< a presigned URL
};

/// From the Authorization header or from the parameters of a presigned URL. incomplete_signature:
/// parts are missing or cannot be read; missing_authentication_token: there is nothing.
Checked<Signature> parse_signature(const http::Request& request);

/// What is signed. `payload` is the hash of the body, or the word that stands for it.
/// incomplete_signature: broken percent-encoding in the query.
Checked<std::string> canonical_request(const http::Request& request, const Signature& signature,
                                       std::string_view payload);
std::string string_to_sign(const Signature& signature, std::string_view canonical);

/// The keys derived from secrets, of which four HMACs are saved per request. Bounded: when it is
/// full it forgets everything. Not thread-safe.
class SigningKeys {
 public:
  explicit SigningKeys(std::size_t keys_max = 1'024) : keys_max_(keys_max) {}

  /// As remembered for exactly this secret, or derived.
  [[nodiscard]] Secret get(const CredentialScope& scope, const Secret& secret) const;
  /// Only for a key that verified a signature, so that nobody without one can fill the cache.
  void remember(const CredentialScope& scope, const Secret& secret, const Secret& key);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Entry {
    Secret secret{};  ///< an access key whose secret was replaced must not go on with the old one
    Secret key{};
  };
  std::size_t keys_max_;
  std::map<CredentialScope, Entry> keys_;
};

struct Circumstances {
  Moment now{};
  std::string_view service{};  ///< the one addressed: "sqs" or "sns"
  bool tls = false;            ///< how the request came; without it the body must be signed
  std::string_view region{};   ///< "": any
};

/// `secret`: of signature.scope.access_key; null: nobody has that key. Nothing about the request
/// can be trusted before this has said yes. Refuses with invalid_client_token_id,
/// signature_does_not_match, request_expired, invalid_security, incomplete_signature.
Checked<void> verify(const http::Request& request, const Signature& signature, const Secret* secret,
                     SigningKeys& keys, const Circumstances& circumstances);

}  // namespace hk::api::aws
