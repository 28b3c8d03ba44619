#include "api/tenant_change.h"

#include <atomic>

namespace hk::api {

namespace {

std::atomic<bool> under_way = false;

}  // namespace

Result<TenantChange> TenantChange::begin() {
  if (under_way.exchange(true)) {
    return fail(ErrorKind::unavailable,
                "another change of credentials is under way: nothing was done, try again shortly");
  }
  return TenantChange{};
}

void TenantChange::end() {
  if (std::exchange(held_, false)) {
    under_way.store(false);
  }
}

std::optional<core::Tenant> find_tenant(core::Reader& reader, core::TenantId id) {
  for (core::Tenant& tenant : reader.tenants()) {
    if (tenant.id == id) {
      return std::move(tenant);
    }
  }
  return std::nullopt;
}

}  // namespace hk::api
