// Services that sign a timestamp with the body: Stripe, Slack, Standard Webhooks, and the preset
// `hmac`, for all others. The signature is looked at first: only who has the secret is told about
// the clock.
#include <array>

#include "api/sources/verify/verify.h"

namespace hk::api::sources {

Verified verify_stripe(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  constexpr std::string_view name = "Stripe-Signature";
  constexpr std::string_view form = "t=<seconds>,v1=<hex>";
  const auto given = request.header(name);
  if (!given) {
    return header_missing(name);
  }
  std::string_view timestamp;
  std::vector<std::string_view> signatures;
  std::vector<std::string> others;
  for (const std::string_view part : split_signatures(*given, ",")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return header_malformed(name, *given, form);
    }
    const std::string_view key = trim(part.substr(0, equals));
    const std::string_view value = trim(part.substr(equals + 1));
    if (key == "t") {
      timestamp = value;
    } else if (key == "v1") {
      signatures.push_back(value);
    } else {
      others.emplace_back(key);
    }
  }
  if (timestamp.empty()) {
    return timestamp_missing(name);
  }
  const auto time = read_timestamp(timestamp, false);
  if (!time) {
    return header_malformed(name, *given, form);
  }
  if (signatures.empty()) {
    return scheme_unknown(others, "v1");
  }
  const std::array<std::string_view, 3> parts = {timestamp, ".", request.body};
  if (auto good = check_mac({.parts = parts, .given = signatures}, keys, request); !good) {
    return good;
  }
  return check_time(scheme, *time, request);
}

Verified verify_slack(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  constexpr std::string_view name = "X-Slack-Signature";
  constexpr std::string_view time_name = "X-Slack-Request-Timestamp";
  constexpr std::string_view prefix = "v0=";
  const auto given = request.header(name);
  if (!given) {
    return header_missing(name);
  }
  const auto timestamp = request.header(time_name);
  if (!timestamp) {
    return timestamp_missing(time_name);
  }
  const auto time = read_timestamp(*timestamp, false);
  if (!time) {
    return header_malformed(time_name, *timestamp, "<seconds>");
  }
  if (!given->starts_with(prefix)) {
    return header_malformed(name, *given, "v0=<hex>");
  }
  const std::string_view signature = given->substr(prefix.size());
  const std::array<std::string_view, 4> parts = {"v0:", *timestamp, ":", request.body};
  if (auto good = check_mac({.parts = parts, .given = std::span(&signature, 1)}, keys, request);
      !good) {
    return good;
  }
  return check_time(scheme, *time, request);
}

namespace {

struct StandardSignatures {
  std::vector<std::string_view> symmetric{};
  std::vector<std::string_view> pairs{};
  std::vector<std::string> others{};
};

StandardSignatures read_standard(std::string_view header) {
  StandardSignatures read;
  for (const std::string_view part : split_signatures(header, " ")) {
    const std::size_t comma = part.find(',');
    const std::string_view version = part.substr(0, comma);
    const std::string_view value =
        comma == std::string_view::npos ? std::string_view{} : part.substr(comma + 1);
    if (version == "v1") {
      read.symmetric.push_back(value);
    } else if (version == "v1a") {
      read.pairs.push_back(value);
    } else {
      read.others.emplace_back(version);
    }
  }
  return read;
}

}  // namespace

Verified verify_standard(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  const bool svix = !request.header("webhook-signature") && request.header("svix-signature");
  const std::string family = svix ? "svix-" : "webhook-";
  const auto id = request.header(family + "id");
  const auto timestamp = request.header(family + "timestamp");
  const auto given = request.header(family + "signature");
  if (!id) {
    return header_missing(family + "id");
  }
  if (!given) {
    return header_missing(family + "signature");
  }
  if (!timestamp) {
    return timestamp_missing(family + "timestamp");
  }
  const auto time = read_timestamp(*timestamp, false);
  if (!time) {
    return header_malformed(family + "timestamp", *timestamp, "<seconds>");
  }
  StandardSignatures signatures = read_standard(*given);
  if (signatures.symmetric.empty() && signatures.pairs.empty()) {
    return signatures.others.empty()
               ? Verified(header_malformed(family + "signature", *given, "v1,<base64>"))
               : Verified(scheme_unknown(signatures.others, "v1"));
  }
  const security::SignedContent content{.id = *id, .timestamp = *timestamp, .body = request.body};
  for (const Key& key : keys) {
    if (!key.pair || !key.live(request.at)) {
      continue;
    }
    for (const std::string_view one : signatures.pairs) {
      if (security::matches_v1a(*key.pair, content, one)) {
        return check_time(scheme, *time, request);
      }
    }
  }
  const std::array<std::string_view, 5> parts = {*id, ".", *timestamp, ".", request.body};
  if (signatures.symmetric.empty()) {
    signatures.symmetric = std::move(signatures.pairs);  // what is told of the mismatch
  }
  if (auto good = check_mac(
          {.encoding = SignatureText::base64, .parts = parts, .given = signatures.symmetric}, keys,
          request);
      !good) {
    return good;
  }
  return check_time(scheme, *time, request);
}

Verified verify_hmac(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  const HmacScheme& hmac = *scheme.hmac;
  const auto given = request.header(hmac.header);
  if (!given) {
    return header_missing(hmac.header);
  }
  std::vector<std::string_view> signatures;
  for (std::string_view one : split_signatures(*given, hmac.separator)) {
    if (one.starts_with(hmac.prefix)) {
      signatures.push_back(one.substr(hmac.prefix.size()));
    }
  }
  if (signatures.empty()) {
    return header_malformed(hmac.header, *given, hmac.prefix + "<signature>");
  }
  std::string_view timestamp;
  std::optional<Moment> time;
  if (!hmac.timestamp_header.empty()) {
    const auto found = request.header(hmac.timestamp_header);
    if (!found) {
      return timestamp_missing(hmac.timestamp_header);
    }
    timestamp = *found;
    time = read_timestamp(timestamp, hmac.milliseconds);
    if (!time) {
      return header_malformed(hmac.timestamp_header, timestamp,
                              hmac.milliseconds ? "<milliseconds>" : "<seconds>");
    }
  }
  const auto parts =
      hmac.signed_text.fill(request, {.timestamp = timestamp,
                                      .id = scheme.event_id.kind == Locator::Kind::header
                                                ? request.header(scheme.event_id.text).value_or("")
                                                : "",
                                      .url = scheme.url});
  if (auto good = check_mac(
          {.hash = hmac.hash, .encoding = hmac.encoding, .parts = parts, .given = signatures}, keys,
          request);
      !good) {
    return good;
  }
  return time ? check_time(scheme, *time, request) : Verified{};
}

}  // namespace hk::api::sources
