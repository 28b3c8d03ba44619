#include "outbox/send/sign_v4.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "base/ascii.h"
#include "base/date.h"
#include "security/sigv4.h"

namespace hk::outbox {

const Secret& V4Signer::key_of(std::string_view day) {
  if (day_ != day) {
    key_ = security::derive_signing_key(credentials_.secret_access_key, day, credentials_.region,
                                        credentials_.service);
    day_ = day;
  }
  return key_;
}

void V4Signer::sign(std::string_view host, std::string_view body, Moment now,
                    std::vector<core::Header>& headers) {
  const std::string date_time = basic_date(now);
  const std::string day = date_time.substr(0, 8);
  headers.push_back({"X-Amz-Date", date_time});
  if (!credentials_.session_token.empty()) {
    headers.push_back({"X-Amz-Security-Token", std::string(credentials_.session_token.reveal())});
  }

  std::map<std::string, std::string_view> fields{{"host", host}};
  for (const core::Header& header : headers) {
    std::string name = header.name;
    std::ranges::transform(name, name.begin(), to_lower);
    fields.emplace(std::move(name), header.value);
  }
  std::string names;
  std::string canonical = "POST\n/\n\n";
  for (const auto& [name, value] : fields) {
    names.append(names.empty() ? "" : ";").append(name);
    canonical.append(name).append(":");
    security::append_canonical_value(canonical, value);
    canonical += '\n';
  }
  canonical.append("\n").append(names).append("\n").append(security::hex_sha256(body));

  const std::string scope =
      day + "/" + credentials_.region + "/" + credentials_.service + "/aws4_request";
  const std::string signature =
      security::sign_text(key_of(day), security::string_to_sign(date_time, scope, canonical));
  headers.push_back({"Authorization", "AWS4-HMAC-SHA256 Credential=" + credentials_.access_key_id +
                                          "/" + scope + ", SignedHeaders=" + names +
                                          ", Signature=" + signature});
}

}  // namespace hk::outbox
