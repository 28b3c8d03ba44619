// What a request says about its signature: the Authorization header or a presigned URL.
#include <algorithm>
#include <array>

#include "api/aws/sigv4.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/date.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t signed_headers_max = 100;
constexpr std::uint64_t expires_max = 604'800;

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::unexpected<Refusal> incomplete(std::string message) {
  return refuse(ErrorCode::incomplete_signature, std::move(message));
}

/// "a;b;c": names of header fields in lower case.
Checked<std::vector<std::string>> parse_signed_headers(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = text.find(';');
    const std::string_view name = text.substr(0, end);
    if (!is_token(name) || std::ranges::any_of(name, [](char c) { return to_lower(c) != c; })) {
      return incomplete("SignedHeaders must be names of headers in lower case with ';' between.");
    }
    if (names.size() == signed_headers_max) {
      return incomplete("SignedHeaders names more than 100 headers.");
    }
    names.emplace_back(name);
    if (end == std::string_view::npos) {
      return names;
    }
    text.remove_prefix(end + 1);
  }
}

/// "<key>/<day>/<region>/<service>/<terminator>", read from the end: a key may hold slashes.
Checked<void> parse_credential(std::string_view text, Signature& signature) {
  std::array<std::string*, 4> parts = {&signature.terminator, &signature.scope.service,
                                       &signature.scope.region, &signature.scope.day};
  for (std::string* const part : parts) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) {
      return incomplete(
          "Credential must be <access key>/<yyyymmdd>/<region>/<service>/aws4_request.");
    }
    *part = text.substr(slash + 1);
    text = text.substr(0, slash);
  }
  signature.scope.access_key = text;
  const bool empty = std::ranges::any_of(parts, [](const auto* part) { return part->empty(); });
  if (empty || text.empty()) {
    return incomplete("Credential has an empty part.");
  }
  return {};
}

/// One of the places a part can stand in, as the parsers below hand it on.
struct Parts {
  std::optional<std::string> credential{};
  std::optional<std::string> signed_headers{};
  std::optional<std::string> signature{};
};

Checked<Signature> assemble(const Parts& parts) {
  for (const auto& [part, name] : {std::pair(&parts.credential, "Credential"),
                                   std::pair(&parts.signed_headers, "SignedHeaders"),
                                   std::pair(&parts.signature, "Signature")}) {
    if (!*part || (*part)->empty()) {
      return incomplete(std::string("The signature has no ") + name + ".");
    }
  }
  Signature signature;
  if (const auto read = parse_credential(*parts.credential, signature); !read) {
    return std::unexpected(read.error());
  }
  auto names = parse_signed_headers(*parts.signed_headers);
  if (!names) {
    return std::unexpected(std::move(names.error()));
  }
  signature.signed_headers = std::move(*names);
  signature.signature = *parts.signature;
  return signature;
}

Checked<void> set_date(Signature& signature, std::string_view text) {
  std::optional<Moment> moment = parse_basic_date(text);
  if (!moment) {
    moment = parse_http_date(text);
  }
  if (!moment) {
    return incomplete("The date must be like 20260102T030405Z.");
  }
  signature.signed_at = *moment;
  signature.date_time = basic_date(*moment);
  return {};
}

/// "Credential=..., SignedHeaders=..., Signature=..." in any order.
Checked<Parts> parse_authorization(std::string_view text) {
  Parts parts;
  for (const std::string& part : split_commas(text)) {
    const std::size_t equals = part.find('=');
    const std::string_view name = std::string_view(part).substr(0, equals);
    std::optional<std::string>* place = nullptr;
    if (name == "Credential") {
      place = &parts.credential;
    } else if (name == "SignedHeaders") {
      place = &parts.signed_headers;
    } else if (name == "Signature") {
      place = &parts.signature;
    }
    if (equals == std::string::npos || place == nullptr || *place) {
      return incomplete(
          "Authorization must hold Credential, SignedHeaders and Signature, each once.");
    }
    *place = part.substr(equals + 1);
  }
  return parts;
}

Checked<Signature> from_header(const http::Request& request, std::string_view authorization) {
  std::string_view rest = authorization.substr(algorithm.size());
  if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t')) {
    return incomplete("Authorization must begin with AWS4-HMAC-SHA256 and a blank.");
  }
  const Checked<Parts> parts = parse_authorization(rest);
  if (!parts) {
    return std::unexpected(parts.error());
  }
  Checked<Signature> signature = assemble(*parts);
  if (!signature) {
    return signature;
  }
  auto date = request.header("X-Amz-Date");
  if (!date) {
    date = request.header("Date");
  }
  if (!date) {
    return incomplete("A signed request must have the header X-Amz-Date or Date.");
  }
  if (const auto read = set_date(*signature, *date); !read) {
    return std::unexpected(read.error());
  }
  signature->security_token = request.header("X-Amz-Security-Token").value_or("");
  return signature;
}

Checked<std::optional<std::string>> only(const Pairs& pairs, std::string_view name) {
  std::optional<std::string> found;
  for (const auto& [given, value] : pairs) {
    if (given != name) {
      continue;
    }
    if (found) {
      return incomplete("The parameter " + std::string(name) + " was given twice.");
    }
    found = value;
  }
  return found;
}

Checked<Signature> from_query(const Pairs& pairs) {
  struct Wanted {
    std::string_view name;
    std::optional<std::string> value{};
  };
  std::array<Wanted, 7> wanted{{{"X-Amz-Algorithm"},
                                {"X-Amz-Date"},
                                {"X-Amz-Expires"},
                                {"X-Amz-Credential"},
                                {"X-Amz-SignedHeaders"},
                                {"X-Amz-Signature"},
                                {"X-Amz-Security-Token"}}};
  for (Wanted& one : wanted) {
    auto value = only(pairs, one.name);
    if (!value) {
      return std::unexpected(std::move(value.error()));
    }
    one.value = std::move(*value);
    if (!one.value && one.name != "X-Amz-Security-Token") {
      return incomplete("A presigned URL must have the parameter " + std::string(one.name) + ".");
    }
  }
  const auto& [name, date, expires, credential, headers, digits, token] = wanted;
  if (*name.value != algorithm) {
    return incomplete("X-Amz-Algorithm must be AWS4-HMAC-SHA256.");
  }
  Checked<Signature> signature = assemble({credential.value, headers.value, digits.value});
  if (!signature) {
    return signature;
  }
  if (const auto read = set_date(*signature, *date.value); !read) {
    return std::unexpected(read.error());
  }
  const auto seconds = parse_unsigned(*expires.value);
  if (!seconds || *seconds < 1 || *seconds > expires_max) {
    return incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800.");
  }
  signature->expires = std::chrono::seconds(*seconds);
  signature->security_token = token.value.value_or("");
  return signature;
}

bool is_presigned(const Pairs& pairs) {
  return std::ranges::any_of(pairs, [](const auto& pair) {
    return pair.first == "X-Amz-Signature" || pair.first == "X-Amz-Algorithm";
  });
}

}  // namespace

Checked<Signature> parse_signature(const http::Request& request) {
  const auto pairs = http::parse_query(request.query());
  if (!pairs) {
    return incomplete("The percent-encoding of the query is broken.");
  }
  const auto authorization = request.header("Authorization");
  const bool presigned = is_presigned(*pairs);
  if (!authorization) {
    if (presigned) {
      return from_query(*pairs);
    }
    return refuse(ErrorCode::missing_authentication_token,
                  "The request is not signed: neither an Authorization header nor X-Amz-Signature "
                  "was found.");
  }
  if (presigned) {
    return incomplete("Sign with the Authorization header or with X-Amz-Signature, not with both.");
  }
  if (!authorization->starts_with(algorithm)) {
    return incomplete("Authorization must be of the kind AWS4-HMAC-SHA256.");
  }
  return from_header(request, *authorization);
}

}  // namespace hk::api::aws
