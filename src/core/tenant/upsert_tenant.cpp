#include <set>
#include <string_view>

#include "base/assert.h"
#include "core/tenant/tenants.h"

namespace hk::core {

namespace {

/// What the tenant shows may be nobody else's: whoever shows it must be one tenant.
class Credentials {
 public:
  explicit Credentials(const Tenant& tenant)
      : tokens_(tenant.token_digests.begin(), tenant.token_digests.end()) {
    for (const AccessKey& key : tenant.access_keys) {
      access_keys_.insert(key.id);
    }
  }
  /// What they share, in a word; "": none.
  [[nodiscard]] std::string_view shared_with(const Tenant& other) const {
    for (const std::string& digest : other.token_digests) {
      if (tokens_.contains(digest)) return "token";
    }
    for (const AccessKey& key : other.access_keys) {
      if (access_keys_.contains(key.id)) return "access key";
    }
    return {};
  }

 private:
  std::set<std::string_view> tokens_;
  std::set<std::string_view> access_keys_;
};

}  // namespace

Reply Tenants::decide(const UpsertTenant& command) {
  if (command.tenant.name.empty()) {
    return fail(ErrorKind::invalid_argument, "a tenant needs a name");
  }
  Tenant tenant = command.tenant;
  const bool is_new = tenant.id.value() == 0 || !tenants_.contains(tenant.id);
  if (is_new && tenant.id.value() != 0 && !command.create_with_id) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (is_new) {
    for (const auto& [id, known] : tenants_) {
      if (known.name == tenant.name) {
        return fail(ErrorKind::conflict, "a tenant named " + tenant.name + " exists already");
      }
    }
    tenant.created_at = batch_.now();
  } else if (command.if_still && *command.if_still != tenants_.at(tenant.id)) {
    // Whoever read it before another change would undo that one.
    return fail(ErrorKind::unavailable,
                "another change of credentials is under way: nothing was done, try again shortly");
  }
  if (tenant.id.value() == 0) {
    tenant.id = TenantId{tenants_.empty() ? 1 : tenants_.rbegin()->first.value() + 1};
  }
  const Credentials credentials(tenant);
  for (const auto& [id, known] : tenants_) {
    const std::string_view shared = id == tenant.id ? "" : credentials.shared_with(known);
    if (!shared.empty()) {
      return fail(ErrorKind::conflict,
                  "this " + std::string(shared) + " belongs to the tenant " + known.name);
    }
  }
  tenants_[tenant.id] = tenant;
  batch_.put(Put<Tenant>{tenant});
  batch_.effect(TenantChanged{context_.partition, tenant});
  return TenantStored{tenant.id};
}

}  // namespace hk::core
