// QStash: a JSON Web Token (HS256) that names the body by its digest.
#include <array>

#include "api/sources/verify/verify.h"
#include "base/encoding.h"
#include "base/json.h"

namespace hk::api::sources {

namespace {

constexpr std::string_view token_header = "Upstash-Signature";

struct JwtText {
  std::string_view signed_part{};
  std::string_view signature{};
  std::string header{};  ///< JSON
  std::string claims{};  ///< JSON
};

std::optional<JwtText> split_token(std::string_view text) {
  const std::size_t first = text.find('.');
  const std::size_t last = text.rfind('.');
  if (first == std::string_view::npos || first == last) {
    return std::nullopt;
  }
  auto header = unbase64url(text.substr(0, first));
  auto claims = unbase64url(text.substr(first + 1, last - first - 1));
  if (!header || !claims) {
    return std::nullopt;
  }
  return JwtText{.signed_part = text.substr(0, last),
                 .signature = text.substr(last + 1),
                 .header = std::move(*header),
                 .claims = std::move(*claims)};
}

std::string claim(const JwtText& token, const char* name) {
  return find_text(token.claims, Pointer{name}).text.value_or("");
}

std::unexpected<Failure> wrong_claim(Fault fault, std::string_view name, std::string_view found,
                                     std::string_view expected) {
  return std::unexpected(
      failure(fault, "the claim " + std::string(name) + " of the token is not what is expected",
              [&](JsonWriter& json) {
                json.field("claim", name);
                json.field("value", found.substr(0, 512));
                json.field("expected", expected);
              }));
}

Verified check_claims(const Scheme& scheme, const JwtText& token, const Received& request) {
  if (const std::string issuer = claim(token, "iss"); issuer != "Upstash") {
    return wrong_claim(Fault::token_subject_mismatch, "iss", issuer, "Upstash");
  }
  const std::string subject = claim(token, "sub");
  if (!scheme.url.empty() && subject != scheme.url) {
    return wrong_claim(Fault::token_subject_mismatch, "sub", subject, scheme.url);
  }
  const std::string expiry = claim(token, "exp");
  const auto expires_at = read_timestamp(expiry, false);
  if (!expires_at || *expires_at <= request.at) {
    return wrong_claim(Fault::token_expired, "exp", expiry,
                       "later than " + std::to_string(to_ms(request.at) / 1000));
  }
  const std::string since = claim(token, "nbf");
  const auto valid_from = read_timestamp(since, false);
  if (!since.empty() && (!valid_from || *valid_from > request.at + scheme.tolerance)) {
    return valid_from ? check_time(scheme, *valid_from, request)
                      : Verified(wrong_claim(Fault::token_expired, "nbf", since, "a time"));
  }
  const security::Digest256 digest = security::sha256(request.body);
  const std::string expected =
      base64url(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  std::string body = claim(token, "body");
  while (body.ends_with('=')) {
    body.pop_back();
  }
  return body == expected
             ? Verified{}
             : Verified(wrong_claim(Fault::token_body_mismatch, "body", body, expected));
}

}  // namespace

Verified verify_qstash(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  const auto given = request.header(token_header);
  if (!given) {
    return header_missing(token_header);
  }
  const auto token = split_token(*given);
  if (!token) {
    return header_malformed(token_header, *given, "<header>.<claims>.<signature>, a JWT");
  }
  if (const auto algorithm = find_text(token->header, Pointer{"alg"}).text.value_or("");
      algorithm != "HS256") {
    return scheme_unknown({algorithm}, "HS256");
  }
  const std::array<std::string_view, 1> parts = {token->signed_part};
  if (auto good = check_mac({.encoding = SignatureText::base64url,
                             .parts = parts,
                             .given = std::span(&token->signature, 1)},
                            keys, request);
      !good) {
    return good;
  }
  return check_claims(scheme, *token, request);
}

}  // namespace hk::api::sources
