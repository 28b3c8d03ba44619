#include "api/sources/verify/hint.h"

#include <functional>

#include "api/sources/verify/verify.h"
#include "base/encoding.h"
#include "base/exact_json.h"

namespace hk::api::sources {

namespace {

constexpr std::string_view webhook_prefix = "whsec_";

/// Also if only the time is wrong: then the signature is right.
bool would_match(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  const Verified verified = verify(scheme, keys, request);
  return verified || verified.error().fault == Fault::timestamp_too_old ||
         verified.error().fault == Fault::timestamp_too_new ||
         verified.error().fault == Fault::token_expired;
}

using OtherBytes = std::function<std::optional<std::string>(std::string_view text)>;

std::vector<Key> with_other_bytes(std::span<const Key> keys, Moment at, const OtherBytes& bytes) {
  std::vector<Key> changed;
  for (const Key& key : keys) {
    if (auto other = key.live(at) ? bytes(key.text.reveal()) : std::nullopt) {
      changed.push_back({.id = key.id, .text = key.text, .bytes = Secret(std::move(*other))});
    }
  }
  return changed;
}

std::string_view without_prefix(std::string_view text) {
  return text.starts_with(webhook_prefix) ? text.substr(webhook_prefix.size()) : text;
}

std::vector<Key> expired_ones(std::span<const Key> keys, Moment at) {
  std::vector<Key> expired;
  for (const Key& key : keys) {
    if (!key.live(at)) {
      expired.push_back(key);
      expired.back().expires_at = never;
    }
  }
  return expired;
}

}  // namespace

std::optional<std::string> find_hint(const Scheme& scheme, std::span<const Key> keys,
                                     const Received& request, std::span<const OtherSource> others) {
  const auto with_bytes = [&](const OtherBytes& bytes) {
    return would_match(scheme, with_other_bytes(keys, request.at, bytes), request);
  };
  if (with_bytes([](std::string_view text) { return unbase64(without_prefix(text)); })) {
    return "the sender uses the secret Base64-decoded; this source uses its text";
  }
  if (with_bytes([](std::string_view text) { return std::optional(std::string(text)); })) {
    return "the sender uses the text of the secret; this source decodes it";
  }
  if (with_bytes([](std::string_view text) -> std::optional<std::string> {
        return text.starts_with(webhook_prefix) ? std::string(without_prefix(text))
                                                : std::string(webhook_prefix).append(text);
      })) {
    return "the sender and this source do not agree whether whsec_ belongs to the secret";
  }
  const auto with_body = [&](std::string_view body) {
    Received changed = request;
    changed.body = body;
    return would_match(scheme, keys, changed);
  };
  std::string_view trimmed = request.body;
  while (trimmed.ends_with('\n') || trimmed.ends_with('\r')) {
    trimmed.remove_suffix(1);
  }
  if (trimmed.size() != request.body.size() && with_body(trimmed)) {
    return "the body was signed without the line end that it came with: a proxy may have added it";
  }
  if (const auto json = ExactJson::parse(request.body, 128); json && with_body(json->to_text())) {
    return "the body was signed as compact JSON: a proxy may have written it anew";
  }
  if (would_match(scheme, expired_ones(keys, request.at), request)) {
    return "the request is signed with a secret of this source that has expired";
  }
  for (const OtherSource& other : others) {
    if (would_match(scheme, other.keys, request)) {
      return "the request is signed with the secret of the source " + other.name;
    }
  }
  return std::nullopt;
}

}  // namespace hk::api::sources
