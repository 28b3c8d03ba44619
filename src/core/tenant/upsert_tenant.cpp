#include "base/assert.h"
#include "core/machine.h"

namespace hk::core {

Reply Machine::decide(const UpsertTenant& command) {
  if (command.tenant.name.empty()) {
    return fail(ErrorKind::invalid_argument, "a tenant needs a name");
  }
  Tenant tenant = command.tenant;
  if (tenant.id.value() == 0) {
    for (const auto& [id, known] : tenants_) {
      if (known.name == tenant.name) {
        return fail(ErrorKind::conflict, "a tenant named " + tenant.name + " exists already");
      }
    }
    tenant.id = TenantId{tenants_.empty() ? 1 : tenants_.rbegin()->first.value() + 1};
    tenant.created_at = batch_.now();
  } else if (!tenants_.contains(tenant.id)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  tenants_[tenant.id] = tenant;
  batch_.put(PutTenant{tenant});
  batch_.effect(TenantChanged{tenant});
  return TenantStored{tenant.id};
}

}  // namespace hk::core
