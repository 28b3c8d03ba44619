#include "api/sources/verify/verify.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/encoding.h"
#include "base/json.h"

namespace hk::api::sources {

namespace {

constexpr std::size_t shown_prefix = 8;
constexpr std::size_t shown_value_max = 512;

void write_tried(JsonWriter& json, std::span<const Key> keys, Moment at) {
  json.key("secretsTried");
  json.begin_array();
  for (const Key& key : keys) {
    if (key.live(at)) {
      json.string(key.id);
    }
  }
  json.end_array();
}

std::optional<std::string> decode_signature(SignatureText encoding, std::string_view text) {
  if (encoding == SignatureText::hex) {
    return unhex(text);
  }
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  if (encoding == SignatureText::base64url) {
    return unbase64url(text);
  }
  std::string padded(text);
  padded.append((4 - text.size() % 4) % 4, '=');
  return unbase64(padded);
}

std::string encode_signature(SignatureText encoding, std::string_view bytes) {
  switch (encoding) {
    case SignatureText::hex: return hex(bytes);
    case SignatureText::base64: return base64(bytes);
    case SignatureText::base64url: return base64url(bytes);
  }
  std::unreachable();
}

std::string body_digest(const Received& request) { return hex(security::sha256(request.body)); }

}  // namespace

Verified check_mac(const MacCheck& check, std::span<const Key> keys, const Received& request) {
  std::vector<std::string> given;
  for (const std::string_view text :
       check.given.subspan(0, std::min(check.given.size(), signatures_max))) {
    if (auto bytes = decode_signature(check.encoding, text)) {
      given.push_back(std::move(*bytes));
    }
  }
  std::string expected;  // under the newest
  for (const Key& key : keys) {
    if (!key.live(request.at) || key.pair) {
      continue;
    }
    const std::string mac = security::hmac(check.hash, key.bytes.reveal(), check.parts);
    if (std::ranges::any_of(given, [&](const std::string& one) {
          return security::constant_time_equal(one, mac);
        })) {
      return {};
    }
    if (expected.empty()) {
      expected = encode_signature(check.encoding, mac).substr(0, shown_prefix);
    }
  }
  return std::unexpected(
      failure(Fault::signature_mismatch, "the signature does not match under any live secret",
              [&](JsonWriter& json) {
                std::size_t bytes = 0;
                for (const std::string_view part : check.parts) {
                  bytes += part.size();
                }
                json.field("signedBytes", bytes);
                json.field("bodySha256", body_digest(request));
                write_tried(json, keys, request.at);
                json.field("expectedPrefix", expected);
                json.field("gotPrefix",
                           check.given.empty() ? "" : check.given.front().substr(0, shown_prefix));
              }));
}

std::optional<Moment> read_timestamp(std::string_view text, bool milliseconds) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  const std::int64_t most = to_ms(never) / (milliseconds ? 1 : 1000);
  if (error != std::errc{} || at != end || number < 0 || number > most) {
    return std::nullopt;
  }
  return moment_from_ms(milliseconds ? number : number * 1000);
}

Verified check_time(const Scheme& scheme, Moment timestamp, const Received& request) {
  const auto skew = request.at - timestamp;
  if (std::chrono::abs(skew) <= scheme.tolerance) {
    return {};
  }
  const bool old = skew > Millis{0};
  return std::unexpected(
      failure(old ? Fault::timestamp_too_old : Fault::timestamp_too_new,
              old ? "the request was signed too long ago" : "the request was signed in the future",
              [&](JsonWriter& json) {
                json.field("timestamp", to_ms(timestamp) / 1000);
                json.field("receivedAt", to_ms(request.at) / 1000);
                json.field("skewSeconds", std::chrono::floor<std::chrono::seconds>(skew).count());
                json.field("toleranceSeconds", scheme.tolerance.count());
              }));
}

std::unexpected<Failure> header_missing(std::string_view name) {
  return std::unexpected(failure(Fault::header_missing,
                                 "the header " + std::string(name) + " is missing",
                                 [&](JsonWriter& json) { json.field("header", name); }));
}

std::unexpected<Failure> header_malformed(std::string_view name, std::string_view value,
                                          std::string_view expected_form) {
  return std::unexpected(failure(
      Fault::header_malformed,
      "the header " + std::string(name) + " does not have the form " + std::string(expected_form),
      [&](JsonWriter& json) {
        json.field("header", name);
        json.field("value", value.substr(0, shown_value_max));
        json.field("expectedForm", expected_form);
      }));
}

std::unexpected<Failure> timestamp_missing(std::string_view where) {
  return std::unexpected(failure(Fault::timestamp_missing,
                                 "there is no timestamp in " + std::string(where),
                                 [&](JsonWriter& json) { json.field("header", where); }));
}

std::unexpected<Failure> scheme_unknown(const std::vector<std::string>& found,
                                        std::string_view wanted) {
  return std::unexpected(failure(Fault::scheme_unknown,
                                 "no signature is of the scheme " + std::string(wanted),
                                 [&](JsonWriter& json) {
                                   json.key("found");
                                   json.begin_array();
                                   for (const std::string& one : found) {
                                     json.string(std::string_view(one).substr(0, 64));
                                   }
                                   json.end_array();
                                   json.field("wanted", wanted);
                                 }));
}

std::unexpected<Failure> credentials_mismatch(std::span<const Key> keys, const Received& request) {
  return std::unexpected(failure(Fault::credentials_mismatch,
                                 "the credentials are missing, or no live secret equals them",
                                 [&](JsonWriter& json) { write_tried(json, keys, request.at); }));
}

std::unexpected<Failure> not_json(std::string_view pointer) {
  return std::unexpected(failure(Fault::body_not_json,
                                 "the body is not JSON, so there is no " + std::string(pointer),
                                 [&](JsonWriter& json) { json.field("pointer", pointer); }));
}

std::vector<std::string_view> split_signatures(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (parts.size() < signatures_max) {
    const std::size_t end = separator.empty() ? std::string_view::npos : text.find(separator);
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) {
      parts.push_back(part);
    }
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + separator.size());
  }
  return parts;
}

Verified verify(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  switch (scheme.preset) {
    case Preset::stripe: return verify_stripe(scheme, keys, request);
    case Preset::github:
    case Preset::meta: return verify_github(keys, request);
    case Preset::shopify: return verify_shopify(keys, request);
    case Preset::slack: return verify_slack(scheme, keys, request);
    case Preset::standard: return verify_standard(scheme, keys, request);
    case Preset::qstash: return verify_qstash(scheme, keys, request);
    case Preset::twitter: return verify_twitter(keys, request);
    case Preset::msgraph: return verify_msgraph(keys, request);
    case Preset::hmac: return verify_hmac(scheme, keys, request);
    case Preset::basic: return verify_basic(scheme, keys, request);
    case Preset::apikey: return verify_apikey(scheme, keys, request);
    case Preset::none: return {};
  }
  std::unreachable();
}

Result<Key> make_key(const Scheme& scheme, std::string id, const Secret& text, Moment expires_at) {
  const std::string_view given = text.reveal();
  Key key{.id = std::move(id), .text = text, .bytes = text, .expires_at = expires_at};
  if (given.empty() || given.size() > 1024) {
    return fail(ErrorKind::invalid_argument, "a secret has 1 to 1024 bytes");
  }
  if (scheme.preset == Preset::standard) {
    auto parsed = security::parse_secret(given);
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    if (parsed->kind == security::WebhookSecret::Kind::symmetric) {
      key.bytes = std::move(parsed->key);
    } else {
      key.pair = std::move(*parsed);
    }
  } else if (scheme.preset == Preset::hmac && scheme.hmac && scheme.hmac->key != KeyText::utf8) {
    const bool is_hex = scheme.hmac->key == KeyText::hex;
    auto bytes = decode_signature(is_hex ? SignatureText::hex : SignatureText::base64, given);
    if (!bytes || bytes->empty()) {
      return fail(ErrorKind::invalid_argument,
                  is_hex ? "verify.key is hex, and this secret is not hexadecimal"
                         : "verify.key is base64, and this secret is not Base64");
    }
    key.bytes = Secret(std::move(*bytes));
  }
  return key;
}

}  // namespace hk::api::sources
