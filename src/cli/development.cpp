#include "cli/development.h"

#include <algorithm>

#include "engine/tenant_directory.h"

namespace hk::cli {

Secret dev_token() {
  return Secret{"eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0="};
}
Secret dev_current_key() { return Secret{"sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r"}; }
Secret dev_next_key() { return Secret{"sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs"}; }

bool is_public(const Secret& secret) {
  return secret.reveal() == dev_token().reveal() || secret.reveal() == dev_current_key().reveal() ||
         secret.reveal() == dev_next_key().reveal();
}

Result<bool> of_development(const core::Tenant& tenant, const security::MasterKey& master_key) {
  const std::string digest = master_key.token_digest(dev_token().reveal());
  const auto& digests = tenant.token_digests;
  bool found =
      tenant.development || std::find(digests.begin(), digests.end(), digest) != digests.end();
  for (const auto& [sealed, which] : {std::pair{&tenant.sealed_current_key, "current"},
                                      std::pair{&tenant.sealed_next_key, "next"}}) {
    const auto key = master_key.open(*sealed, engine::signing_key_context(tenant.name, which));
    if (!key) {
      return std::unexpected(key.error());
    }
    found = found || is_public(*key);
  }
  return found;
}

}  // namespace hk::cli
