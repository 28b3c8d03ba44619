#include "api/aws/sigv4.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/date.h"
#include "security/digest.h"
#include "security/sigv4.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";
constexpr std::chrono::minutes skew_max{15};

Checked<void> append_query(std::string& out, std::string_view query) {
  const auto pairs = http::parse_query(query);
  if (!pairs) {
    return refuse(ErrorCode::incomplete_signature, "The percent-encoding of the query is broken.");
  }
  std::vector<std::pair<std::string, std::string>> encoded;
  encoded.reserve(pairs->size());
  for (const auto& [name, value] : *pairs) {
    if (name == "X-Amz-Signature") {
      continue;
    }
    auto& [encoded_name, encoded_value] = encoded.emplace_back();
    security::append_uri_encoded(encoded_name, name);
    security::append_uri_encoded(encoded_value, value);
  }
  std::ranges::sort(encoded);
  bool first = true;
  for (const auto& [name, value] : encoded) {
    out += first ? "" : "&";
    out += name;
    out += '=';
    out += value;
    first = false;
  }
  return {};
}

void append_header(std::string& out, const http::Request& request, std::string_view name) {
  out += name;
  out += ':';
  bool first = true;
  for (const net::Field& field : request.fields) {
    if (equals_ignoring_case(field.name, name)) {
      out += first ? "" : ",";
      security::append_canonical_value(out, field.value);
      first = false;
    }
  }
  out += '\n';
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "" : ";";
    text += name;
  }
  return text;
}

std::string scope_text(const Signature& signature) {
  return signature.scope.day + "/" + signature.scope.region + "/" + signature.scope.service + "/" +
         signature.terminator;
}

std::unexpected<Refusal> mismatch(std::string message) {
  return refuse(ErrorCode::signature_does_not_match, std::move(message));
}

Checked<void> check_scope(const Signature& signature, const Circumstances& circumstances) {
  const CredentialScope& scope = signature.scope;
  if (scope.day != std::string_view(signature.date_time).substr(0, 8)) {
    return mismatch("The day of the credential scope, " + scope.day +
                    ", is not that of the request's date, " + signature.date_time + ".");
  }
  if (scope.service != circumstances.service) {
    return mismatch("The credential must be scoped to the service " +
                    std::string(circumstances.service) + ", not to " + scope.service + ".");
  }
  if (signature.terminator != "aws4_request") {
    return mismatch("The credential scope must end in aws4_request.");
  }
  if (!circumstances.region.empty() && scope.region != circumstances.region) {
    return mismatch("The credential must be scoped to the region " +
                    std::string(circumstances.region) + ", not to " + scope.region + ".");
  }
  return {};
}

Checked<void> check_time(const Signature& signature, Moment now) {
  if (signature.signed_at > now + skew_max) {
    return mismatch("Signature not yet current: " + signature.date_time +
                    " is more than 15 minutes after " + basic_date(now) + ".");
  }
  if (signature.expires) {
    if (now > signature.signed_at + *signature.expires) {
      return refuse(ErrorCode::request_expired,
                    "The presigned URL expired at " +
                        basic_date(signature.signed_at + *signature.expires) + "; it is " +
                        basic_date(now) + ".");
    }
  } else if (signature.signed_at < now - skew_max) {
    return mismatch("Signature expired: " + signature.date_time +
                    " is more than 15 minutes before " + basic_date(now) + ".");
  }
  return {};
}

/// Clients sign what they like, but not less than where the request goes and what it asks for: with
/// another X-Amz-Target the same body could empty the queue that it was meant to read.
Checked<void> check_signed_headers(const http::Request& request, const Signature& signature) {
  const auto is_signed = [&signature](std::string_view name) {
    return std::ranges::find(signature.signed_headers, name) != signature.signed_headers.end();
  };
  if (!is_signed("host")) {
    return mismatch("The header host must be among the signed ones.");
  }
  if (request.header("x-amz-target") && !is_signed("x-amz-target")) {
    return mismatch("The header x-amz-target must be among the signed ones.");
  }
  return {};
}

/// What stands for the body in the canonical request.
Checked<std::string> payload_of(const http::Request& request, bool tls) {
  const auto told = request.header("x-amz-content-sha256");
  if (told && *told == unsigned_payload) {
    if (!tls) {
      return refuse(ErrorCode::invalid_security,
                    "UNSIGNED-PAYLOAD is accepted over TLS only: sign the body, or use https.");
    }
    return std::string(unsigned_payload);
  }
  std::string hash = security::hex_sha256(request.body);
  if (told && *told != hash) {
    return mismatch("x-amz-content-sha256 is not the SHA-256 of the body.");
  }
  return hash;
}

}  // namespace

Checked<std::string> canonical_request(const http::Request& request, const Signature& signature,
                                       std::string_view payload) {
  std::string text = request.method;
  text += '\n';
  security::append_uri_encoded(text, request.path().empty() ? "/" : request.path(), '/');
  text += '\n';
  if (const auto done = append_query(text, request.query()); !done) {
    return std::unexpected(done.error());
  }
  text += '\n';
  for (const std::string& name : signature.signed_headers) {
    append_header(text, request, name);
  }
  text += '\n';
  text += joined(signature.signed_headers);
  text += '\n';
  text += payload;
  return text;
}

std::string string_to_sign(const Signature& signature, std::string_view canonical) {
  return security::string_to_sign(signature.date_time, scope_text(signature), canonical);
}

Secret SigningKeys::get(const CredentialScope& scope, const Secret& secret) const {
  const auto known = keys_.find(scope);
  if (known != keys_.end() &&
      security::constant_time_equal(known->second.secret.reveal(), secret.reveal())) {
    return known->second.key;
  }
  return security::derive_signing_key(secret, scope.day, scope.region, scope.service);
}

void SigningKeys::remember(const CredentialScope& scope, const Secret& secret, const Secret& key) {
  const auto known = keys_.find(scope);
  if (known != keys_.end() &&
      security::constant_time_equal(known->second.secret.reveal(), secret.reveal())) {
    return;
  }
  if (known == keys_.end() && keys_.size() >= keys_max_) {
    keys_.clear();
  }
  keys_.insert_or_assign(scope, Entry{secret, key});
}

Checked<void> verify(const http::Request& request, const Signature& signature, const Secret* secret,
                     SigningKeys& keys, const Circumstances& circumstances) {
  if (secret == nullptr) {
    return refuse(ErrorCode::invalid_client_token_id,
                  "No access key " + signature.scope.access_key + " is known here.");
  }
  if (const auto good = check_scope(signature, circumstances); !good) {
    return good;
  }
  if (const auto good = check_time(signature, circumstances.now); !good) {
    return good;
  }
  if (const auto good = check_signed_headers(request, signature); !good) {
    return good;
  }
  const Checked<std::string> payload = payload_of(request, circumstances.tls);
  if (!payload) {
    return std::unexpected(payload.error());
  }
  const Checked<std::string> canonical = canonical_request(request, signature, *payload);
  if (!canonical) {
    return std::unexpected(canonical.error());
  }
  const Secret key = keys.get(signature.scope, *secret);
  const std::string expected = security::sign_text(key, string_to_sign(signature, *canonical));
  if (!security::constant_time_equal(expected, signature.signature)) {
    return mismatch(
        "The signature is not the one that this request and the secret of its access key give. "
        "Check the secret, and that nothing between changes the request.");
  }
  keys.remember(signature.scope, *secret, key);
  return {};
}

}  // namespace hk::api::aws
