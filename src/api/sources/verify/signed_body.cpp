// Services that sign the body alone: GitHub and Meta, Shopify, X.
#include <array>

#include "api/sources/verify/verify.h"

namespace hk::api::sources {

namespace {

Verified check_body(SignatureText encoding, std::string_view signature, std::span<const Key> keys,
                    const Received& request) {
  const std::array<std::string_view, 1> parts = {request.body};
  return check_mac({.encoding = encoding, .parts = parts, .given = std::span(&signature, 1)}, keys,
                   request);
}

constexpr std::string_view sha256_prefix = "sha256=";

}  // namespace

Verified verify_github(std::span<const Key> keys, const Received& request) {
  constexpr std::string_view name = "X-Hub-Signature-256";
  const auto given = request.header(name);
  if (!given) {
    if (request.header("X-Hub-Signature")) {
      return scheme_unknown({"sha1"}, "sha256");
    }
    return header_missing(name);
  }
  if (!given->starts_with(sha256_prefix)) {
    return header_malformed(name, *given, "sha256=<hex>");
  }
  return check_body(SignatureText::hex, given->substr(sha256_prefix.size()), keys, request);
}

Verified verify_shopify(std::span<const Key> keys, const Received& request) {
  auto given = request.header("X-Shopify-Hmac-SHA256");
  if (!given) {
    given = request.header("Shopify-Hmac-SHA256");
  }
  return given ? check_body(SignatureText::base64, *given, keys, request)
               : Verified(header_missing("X-Shopify-Hmac-SHA256"));
}

Verified verify_twitter(std::span<const Key> keys, const Received& request) {
  constexpr std::string_view name = "x-twitter-webhooks-signature";
  const auto given = request.header(name);
  if (!given) {
    return header_missing(name);
  }
  if (!given->starts_with(sha256_prefix)) {
    return header_malformed(name, *given, "sha256=<base64>");
  }
  return check_body(SignatureText::base64, given->substr(sha256_prefix.size()), keys, request);
}

}  // namespace hk::api::sources
