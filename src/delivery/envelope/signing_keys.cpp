#include "delivery/envelope/identity.h"
#include "engine/tenant_directory.h"

namespace hk::delivery {

SigningKeys signing_keys_of(const engine::TenantDirectory& tenants) {
  return [&tenants](core::TenantId id) -> std::shared_ptr<const Secret> {
    auto entry = tenants.find(id);
    if (entry == nullptr) {
      return nullptr;
    }
    const Secret* key = &entry->current_key;
    return {std::move(entry), key};  // the entry lives as long as its key is held
  };
}

}  // namespace hk::delivery
