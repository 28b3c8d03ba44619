/// The key that signs what SNS delivers: one for the server, made when it is first needed, kept
/// sealed in a document. On I/O threads; each opens it once and remembers it.
#pragma once

#include <functional>

#include "api/sns/notification.h"
#include "api/sns/topic.h"
#include "security/rsa_key.h"

namespace hk::api::sns {

/// `use` is called with the key, at once or when it has been made, on this thread. If there can be
/// none, the exchange is refused and nothing is called.
void with_signing_key(const ExchangePtr& exchange,
                      std::move_only_function<void(const security::RsaKey&)> use);

/// `version` as the topic's attribute SignatureVersion has it.
Signature sign(const security::RsaKey& key, std::string_view version, std::string_view text,
               std::string_view base_url);

}  // namespace hk::api::sns
