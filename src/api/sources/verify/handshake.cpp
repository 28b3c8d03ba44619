// How services ask whether this is the right place, before they send anything.
#include <algorithm>
#include <array>

#include "api/sources/verify/verify.h"
#include "base/encoding.h"
#include "base/json.h"
#include "edge/http/message.h"

namespace hk::api::sources {

namespace {

constexpr std::string_view plain_text = "text/plain";

/// None: it is not given. Broken percent-encoding: nothing is.
std::optional<std::string> query_value(const Received& request, std::string_view name) {
  auto pairs = http::parse_query(request.query());
  if (!pairs) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(
      *pairs, name, [](const auto& pair) { return std::string_view(pair.first); });
  return found == pairs->end() ? std::nullopt : std::optional(std::move(found->second));
}

HandshakeAnswer token_too_long() {
  return {.status = 400, .refused = "the token of a handshake has at most 4096 bytes"};
}

std::optional<HandshakeAnswer> answer_twitter(std::span<const Key> keys, const Received& request) {
  const auto token = query_value(request, "crc_token");
  if (request.method != "GET" || !token) {
    return std::nullopt;
  }
  if (token->size() > handshake_token_bytes_max) {
    return token_too_long();
  }
  const auto newest =
      std::ranges::find_if(keys, [&](const Key& key) { return key.live(request.at); });
  if (newest == keys.end()) {
    return HandshakeAnswer{.status = 403, .refused = "this source has no live secret"};
  }
  const std::array<std::string_view, 1> parts = {*token};
  HandshakeAnswer answer{.content_type = "application/json"};
  JsonWriter json(answer.body);
  json.begin_object();
  json.field("response_token", "sha256=" + base64(security::hmac(security::Hash::sha256,
                                                                 newest->bytes.reveal(), parts)));
  json.end_object();
  return answer;
}

std::optional<HandshakeAnswer> answer_meta(const Scheme& scheme, const Received& request) {
  if (request.method != "GET" || query_value(request, "hub.mode") != "subscribe") {
    return std::nullopt;
  }
  const auto token = query_value(request, "hub.verify_token");
  if (!token || scheme.verify_token.empty() ||
      !security::constant_time_equal(*token, scheme.verify_token)) {
    return HandshakeAnswer{.status = 403, .refused = "hub.verify_token is not that of the source"};
  }
  auto challenge = query_value(request, "hub.challenge");
  if (challenge.value_or("").size() > handshake_token_bytes_max) {
    return token_too_long();
  }
  return HandshakeAnswer{.content_type = std::string(plain_text), .body = challenge.value_or("")};
}

std::optional<HandshakeAnswer> answer_msgraph(const Received& request) {
  auto token = query_value(request, "validationToken");
  if (!token) {
    return std::nullopt;
  }
  if (token->size() > handshake_token_bytes_max) {
    return token_too_long();
  }
  return HandshakeAnswer{.content_type = std::string(plain_text), .body = std::move(*token)};
}

}  // namespace

std::optional<HandshakeAnswer> handshake(const Scheme& scheme, std::span<const Key> keys,
                                         const Received& request) {
  if (scheme.preset == Preset::twitter) return answer_twitter(keys, request);
  if (scheme.preset == Preset::meta) return answer_meta(scheme, request);
  if (scheme.preset == Preset::msgraph) return answer_msgraph(request);
  return std::nullopt;
}

std::optional<HandshakeAnswer> verified_handshake(const Scheme& scheme, const Received& request) {
  if (scheme.preset != Preset::slack ||
      find_text(request.body, Pointer{"type"}).text != "url_verification") {
    return std::nullopt;
  }
  auto challenge = find_text(request.body, Pointer{"challenge"}).text.value_or("");
  if (challenge.size() > handshake_token_bytes_max) {
    return token_too_long();
  }
  return HandshakeAnswer{.content_type = std::string(plain_text), .body = std::move(challenge)};
}

}  // namespace hk::api::sources
