/// Is a request from whom it says it is? Pure functions over the bytes as they came: constant time
/// for each secret, the live ones are tried newest first. Any thread.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/sources/verify/failure.h"
#include "api/sources/verify/received.h"
#include "api/sources/verify/scheme.h"

namespace hk::api::sources {

using Verified = std::expected<void, Failure>;

/// Under the keys that live at request.at, which is what time is judged by, too.
Verified verify(const Scheme& scheme, std::span<const Key> keys, const Received& request);

/// What an event is known by. REQUIRES: the request is verified.
struct EventNames {
  std::string id{};  ///< "": nobody can tell a repeat of it
  std::string type{};
};
/// body_not_json: the body has to be read for it, and cannot be.
std::expected<EventNames, Failure> name_event(const Scheme& scheme, const Received& request);

/// The answer with which a service wants to see that this is the right place.
struct HandshakeAnswer {
  int status = 200;
  std::string content_type{};
  std::string body{};
  std::string_view refused{};  ///< status 400 or 403: why
};
inline constexpr std::size_t handshake_token_bytes_max = 4096;
/// Of a request that needs no verification. None: it is no handshake.
std::optional<HandshakeAnswer> handshake(const Scheme& scheme, std::span<const Key> keys,
                                         const Received& request);
/// Of one that is verified.
std::optional<HandshakeAnswer> verified_handshake(const Scheme& scheme, const Received& request);

// ---- shared by the files of this folder ----

/// A signature over parts, as several presets have it.
struct MacCheck {
  security::Hash hash = security::Hash::sha256;
  SignatureText encoding = SignatureText::hex;
  std::span<const std::string_view> parts{};
  std::span<const std::string_view> given{};  ///< any may match, without their prefixes
};
/// Beyond that many nobody has a reason to send.
inline constexpr std::size_t signatures_max = 32;
Verified check_mac(const MacCheck& check, std::span<const Key> keys, const Received& request);
Verified check_time(const Scheme& scheme, Moment timestamp, const Received& request);
/// Seconds, or milliseconds, since 1970; nullopt: it is no such number.
std::optional<Moment> read_timestamp(std::string_view text, bool milliseconds);

std::unexpected<Failure> header_missing(std::string_view name);
std::unexpected<Failure> header_malformed(std::string_view name, std::string_view value,
                                          std::string_view expected_form);
std::unexpected<Failure> timestamp_missing(std::string_view where);
std::unexpected<Failure> scheme_unknown(const std::vector<std::string>& found,
                                        std::string_view wanted);
std::unexpected<Failure> credentials_mismatch(std::span<const Key> keys, const Received& request);
std::unexpected<Failure> not_json(std::string_view pointer);
std::vector<std::string_view> split_signatures(std::string_view text, std::string_view separator);

// signed_body.cpp
Verified verify_github(std::span<const Key> keys, const Received& request);
Verified verify_shopify(std::span<const Key> keys, const Received& request);
Verified verify_twitter(std::span<const Key> keys, const Received& request);
// signed_time.cpp
Verified verify_stripe(const Scheme& scheme, std::span<const Key> keys, const Received& request);
Verified verify_slack(const Scheme& scheme, std::span<const Key> keys, const Received& request);
Verified verify_standard(const Scheme& scheme, std::span<const Key> keys, const Received& request);
Verified verify_hmac(const Scheme& scheme, std::span<const Key> keys, const Received& request);
// token.cpp
Verified verify_qstash(const Scheme& scheme, std::span<const Key> keys, const Received& request);
// credentials.cpp
Verified verify_msgraph(std::span<const Key> keys, const Received& request);
Verified verify_basic(const Scheme& scheme, std::span<const Key> keys, const Received& request);
Verified verify_apikey(const Scheme& scheme, std::span<const Key> keys, const Received& request);

}  // namespace hk::api::sources
