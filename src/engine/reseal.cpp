#include "engine/reseal.h"

#include <optional>
#include <string>

#include "engine/tenant_directory.h"
#include "security/credentials.h"

namespace hk::engine {

Result<core::Tenant> resealed(core::Tenant tenant, const security::MasterKey& from,
                              const security::MasterKey& to) {
  std::optional<Error> failed;
  const auto reseal = [&](std::string& sealed, const std::string& context) {
    if (const auto plain = from.open(sealed, context)) {
      sealed = to.seal(*plain, context);
    } else {
      failed = plain.error();
    }
  };
  // All fields by name: one that is added does not compile here before it is dealt with.
  auto& [id, name, token_digests, current_key, next_key, created_at, access_keys, development,
         limits] = tenant;
  reseal(current_key, signing_key_context(name, "current"));
  reseal(next_key, signing_key_context(name, "next"));
  for (core::AccessKey& key : access_keys) {
    reseal(key.sealed_secret, access_key_context(name, key.id));
  }
  if (failed) {
    return std::unexpected(std::move(*failed));
  }
  return tenant;
}

Result<core::webhook::Endpoint> resealed(core::webhook::Endpoint endpoint,
                                         std::string_view tenant_name,
                                         const security::MasterKey& from,
                                         const security::MasterKey& to) {
  const std::string context = webhook_secret_context(tenant_name);
  for (core::webhook::SigningSecret& secret : endpoint.secrets) {
    const auto plain = from.open(secret.sealed, context);
    if (!plain) {
      return std::unexpected(plain.error());
    }
    secret.sealed = to.seal(*plain, context);
  }
  return endpoint;
}

}  // namespace hk::engine
