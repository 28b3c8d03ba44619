/// The key that signs what SNS delivers: one for the server, made when it is first needed, kept
/// sealed in a document. On I/O threads; each opens it once and remembers it.
#pragma once

#include <functional>
#include <string_view>

#include "api/sns/notification.h"
#include "api/sns/topic.h"
#include "base/error.h"
#include "base/secret.h"
#include "core/record.h"
#include "security/rsa_key.h"

namespace hk::api::sns {

/// `use` is called with the key, at once or when it has been made, on this thread. If there can be
/// none, the exchange is refused and nothing is called.
void with_signing_key(const ExchangePtr& exchange,
                      std::move_only_function<void(const security::RsaKey&)> use);

/// `version` as the topic's attribute SignatureVersion has it.
Signature sign(const security::RsaKey& key, std::string_view version, std::string_view text,
               std::string_view base_url);

/// What options.sns_sealing_key is derived for.
inline constexpr std::string_view sealing_place = "sns/signing-key/1";
/// The kind of the document that holds the key.
inline constexpr const char* signing_key_kind = "sns_signing_key";
/// The document with its key sealed anew; both keys as options.sns_sealing_key. corruption: `from`
/// does not open it.
Result<core::Document> resealed(core::Document document, const Secret& from, const Secret& to);

}  // namespace hk::api::sns
