/// Signs a request of SQS or SNS as clients do.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/aws/sigv4.h"
#include "base/ascii.h"
#include "base/date.h"
#include "engine/clock.h"
#include "fuzz/account.h"
#include "security/sigv4.h"

namespace hk::fuzz {

/// The server checks it as it checks theirs. One whose query cannot be read gets a signature that
/// is wrong.
inline void sign(Account& account, http::Request& request) {
  std::erase_if(request.fields, [](const net::Field& field) {
    return std::ranges::any_of(
        std::array{"Authorization", "Host", "X-Amz-Date", "X-Amz-Content-Sha256",
                   "X-Amz-Security-Token"},
        [&](const char* name) { return equals_ignoring_case(field.name, name); });
  });
  const bool json = request.header("X-Amz-Target").has_value();
  const std::string_view form = request.method == "GET" ? request.query() : request.body;
  const bool sns = !json && form.find("Version=2010-03-31") != std::string_view::npos;

  api::aws::Signature signature;
  signature.date_time = basic_date(engine::read_system_clocks().wall);
  signature.scope = {.access_key = account.access_key,
                     .day = signature.date_time.substr(0, 8),
                     .region = "us-east-1",
                     .service = sns ? "sns" : "sqs"};
  signature.terminator = "aws4_request";
  signature.signed_headers = {"host", "x-amz-date"};
  std::string names = "host;x-amz-date";
  if (json) {
    signature.signed_headers.emplace_back("x-amz-target");
    names += ";x-amz-target";
  }
  request.fields.push_back({"Host", "127.0.0.1:8080"});
  request.fields.push_back({"X-Amz-Date", signature.date_time});
  const auto canonical =
      api::aws::canonical_request(request, signature, security::hex_sha256(request.body));
  const Secret key = account.signing_keys.get(signature.scope, account.secret);
  account.signing_keys.remember(signature.scope, account.secret, key);
  const std::string text = api::aws::string_to_sign(signature, canonical.value_or(""));
  request.fields.push_back({"Authorization", "AWS4-HMAC-SHA256 Credential=" + account.access_key +
                                                 "/" + signature.scope.day + "/us-east-1/" +
                                                 signature.scope.service +
                                                 "/aws4_request, SignedHeaders=" + names +
                                                 ", Signature=" + security::sign_text(key, text)});
}

}  // namespace hk::fuzz
